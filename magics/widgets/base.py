"""What every live view is: facts sent once, a page of HTML beside them, questions answered one by one.

A widget holds facts, never the object. What a front end sends is a stranger's word: state is not taken from
it at all, a question is answered only where the view lists it, and its answer goes back under its number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from anywidget import AnyWidget
from traitlets import Dict

from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown
from inspector.report import MIME, Report
from inspector.views.plain import clipped

_FOLDER: Final = Path(__file__).parent
WIDGET: Final = "application/vnd.jupyter.widget-view+json"
LONGEST_TEXT: Final = 80
LONGEST_NUMBER: Final = 12
"""Of a question: what a view counts its own questions by."""

MOST_CHARACTERS: Final = 90_000
"""Of what a view is sent at first, as JSON; `--all` sends what its own bounds allow."""

_OUTPUT: Final = ".jp-OutputArea-child"
_HIDDEN: Final = (
    f"{_OUTPUT}:has(.inspector-page):has(+ {_OUTPUT} .inspector-view)",
    f"{_OUTPUT}:has(.inspector-page) + {_OUTPUT} > .jupyter-widgets:not(:has(*))",
)
"""The page where its view is drawn; of a view whose kernel is gone, the line "Error displaying widget"."""
_INSTEAD: Final = f"<style scoped>{', '.join(_HIDDEN)} {{ display: none; }}</style>"

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def source(*names: str) -> str:
    """The text of files beside this one, as one module."""
    return "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in names)


def said(text: object, longest: int = LONGEST_TEXT) -> str:
    """A text as a page may show it: bounded, controls and bidi overrides escaped."""
    return clipped(text if isinstance(text, str) else str(text), longest)


def amount(value: object) -> float | int | str:
    """A number as JSON has it; an unknown, an infinity or a NaN as its words."""
    if isinstance(value, Unknown):
        return said(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return said(value)
    return value if math.isfinite(value) else f"? {value}"


def fitting(scene: Callable[[int], dict[str, Any]], most: int, everything: bool) -> dict[str, Any]:
    """What a page takes by default: a scene of `most` rows, or of so many fewer that it is small."""
    made = scene(most)
    while not everything and most > 1 and len(json.dumps(made)) > MOST_CHARACTERS:
        most //= 2
        made = scene(most)
    return made


class View(AnyWidget):
    """A view of a report's facts; `scene` is what its JavaScript draws."""

    _css = source("kit.css")
    scene = Dict().tag(sync=True)

    def __init__(self, scene: Mapping[str, Any], report: Report, **answers: Answer) -> None:
        """`answers`: the questions that the page may ask, by name."""
        super().__init__(scene=dict(scene))
        self.report, self.answers = report, answers
        self.on_msg(self._asked)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Nothing: what is shown comes from the kernel, whatever a front end sends."""

    def _asked(self, _: object, content: object, buffers: Sequence[object]) -> None:
        """Answer a question that is one; anything else is dropped."""
        if not isinstance(content, dict):
            return
        number, ask = content.get("number"), content.get("ask")
        if type(number) is not str or len(number) > LONGEST_NUMBER or type(ask) is not str:
            return
        if ask in self.answers:
            self.send({"number": number, **self._answer(ask, content)})

    def _answer(self, ask: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return self.answers[ask](content)
        except InspectorError as error:
            return {"refused": said(error.what, 300)}
        except Exception as error:
            return {"refused": f"the question was not understood ({type(error).__name__})"}

    @property
    def outputs(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Two MIME bundles: the report's text and page, which stay, then the view, which the kernel serves.

        In one output they would be lost together: of a notebook that is opened again JupyterLab draws the
        widget or an error, and no other form beside it.
        """
        page = {kind: told for kind, told in self.report._repr_mimebundle_().items() if kind != MIME}
        page["text/html"] = f'<div class="inspector-page">{_INSTEAD}{page["text/html"]}</div>'
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return page, {WIDGET: view, "text/plain": ""}  # nbconvert wants a form that it can show
