"""Live view of materialization: a tree of layers over a strip of pages."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector.magics.widgets.base import View, amount, said

from inspector.facts.answers import Answers
from inspector.facts.materialization import Layer, Materialization, Residency
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.views.materialization import MILD, would

NO_ANSWERS: Final = Answers(())


def open_view(fact: Materialization, report: Report) -> View:
    """The view of a materialization."""
    answers = report.facts.get("answers")
    copies = copying(answers) if isinstance(answers, Answers) else Answers(())
    return View("layers.js", scene(fact, report.name, copies), report)


def copying(answers: Answers) -> Answers:
    """The answers about what is copied when the data is used."""
    return Answers(tuple(row for row in answers.rows if row.slug == "c-code-copies"))


def scene(fact: Materialization, name: str, copies: Answers = NO_ANSWERS) -> dict[str, Any]:
    """Layers with their answers and evidence; the pages of the last layer."""
    pages = next(
        (one.residency for one in reversed(fact.layers) if isinstance(one.residency, Residency)), None
    )
    return {
        "name": said(name, 40),
        "state": said(fact.state),
        "logical": amount(fact.logical_bytes),
        "resident": amount(fact.resident_bytes),
        "waits": said(fact.waits_for),
        "first": said(" ".join([*(row.text for row in copies.rows), _would(fact)]), 300),
        "layers": [_layer(layer) for layer in fact.layers],
        "layersLeftOut": fact.layers_left_out,
        "findings": [
            {
                "slug": said(one.slug),
                "what": said(one.what, 200),
                "do": said(one.do, 200),
                "mild": one.slug in MILD,
            }
            for one in fact.findings
        ],
        **(_pages(pages) if pages is not None else {"strip": ""}),
    }


def _would(fact: Materialization) -> str:
    """The same as `views.materialization` shows, in a sentence; "" where no layer knows."""
    does = would(fact)
    return f"Copied or made by: {', '.join(does)}." if does else ""


def _layer(layer: Layer) -> dict[str, Any]:
    answers = (layer.value, layer.storage, layer.title)
    return {
        "level": layer.level,
        "what": said(layer.what),
        "depth": layer.depth,
        "answers": " · ".join(said(one, 30) for one in answers if not isinstance(one, Unknown)),
        "evidence": [said(f"{one.source} {one.place}: {one.says}", 120) for one in layer.evidence],
        "would": [said(one) for one in layer.would],
        "wouldNot": [said(one) for one in layer.would_not],
    }


def _pages(pages: Residency) -> dict[str, Any]:
    amounts = {
        "p": pages.private_bytes,
        "f": pages.file_bytes,
        "s": pages.shared_bytes,
        "z": pages.zero_page_bytes,
        "w": pages.swapped_bytes,
        ".": pages.absent_bytes,
    }
    return {"strip": pages.strip, "span": pages.span_bytes, "way": pages.way, "amounts": amounts}
