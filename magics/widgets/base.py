"""The base of all live views: sends facts once, with a page of HTML, and answers the front end's questions.

A widget holds facts, never the object. Messages from a front end are not trusted: its state is ignored, and
only questions in the view's list are answered, under the question's number.
"""

# SPDX-License-Identifier: MIT
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from anywidget import AnyWidget
from traitlets import Dict

from inspector.errors import InspectorError
from inspector.facts.answers import Answers
from inspector.facts.unknown import Unknown
from inspector.report import MIME, Report
from inspector.views.plain import clipped

_FOLDER: Final = Path(__file__).parent
WIDGET: Final = "application/vnd.jupyter.widget-view+json"
LONGEST_TEXT: Final = 80
LONGEST_NUMBER: Final = 12
"""Characters of a question's number."""

MOST_CHARACTERS: Final = 90_000
"""JSON characters of a view's scene; `--all` sends as many rows as the view's own bounds allow."""

_OUTPUT: Final = ".jp-OutputArea-child"
_HIDDEN: Final = (
    f"{_OUTPUT}:has(.inspector-page):has(+ {_OUTPUT} .inspector-view)",
    f"{_OUTPUT}:has(.inspector-page) + {_OUTPUT} > .jupyter-widgets:not(:has(*))",
)
"""What CSS hides: the page where a view is drawn, and "Error displaying widget" where its kernel is gone."""
_INSTEAD: Final = f"<style scoped>{', '.join(_HIDDEN)} {{ display: none; }}</style>"

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@cache
def source(*names: str) -> str:
    """The text of files in this folder, as one module."""
    return "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in names)


def said(text: object, longest: int = LONGEST_TEXT) -> str:
    """A text for a page: at most `longest` characters, controls and bidi overrides escaped."""
    return clipped(text if isinstance(text, str) else str(text), longest)


def amount(value: object) -> float | int | str:
    """A number for JSON; an unknown, an infinity or a NaN as text."""
    if isinstance(value, Unknown):
        return said(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return said(value)
    return value if math.isfinite(value) else f"? {value}"


def sentence(report: Report) -> str:
    """The report's first answer, which every view begins with; "" without one."""
    answers = report.facts.get("answers")
    rows = answers.rows if isinstance(answers, Answers) else ()
    return said(rows[0].text.replace("`", ""), 300) if rows else ""


def fitting(scene: Callable[[int], dict[str, Any]], most: int, everything: bool) -> dict[str, Any]:
    """A scene of at most `most` rows, fewer where its JSON exceeds MOST_CHARACTERS."""
    made = scene(most)
    while not everything and most > 1 and len(json.dumps(made)) > MOST_CHARACTERS:
        most //= 2
        made = scene(most)
    return made


class View(AnyWidget):
    """A view of a report's facts; `scene` is what its JavaScript draws."""

    _css = source("kit.css")
    scene = Dict().tag(sync=True)

    def __init__(self, script: str, scene: Mapping[str, Any], report: Report, **answers: Answer) -> None:
        """`script`: the file that draws the scene, after kit.js. `answers`: question -> who answers it."""
        self._esm = source("kit.js", script)
        super().__init__(scene={"sentence": sentence(report), **scene})
        self.report, self.answers = report, answers
        self.on_msg(self._asked)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Ignore state that a front end sends; the kernel alone sets the scene."""

    def _asked(self, _: object, content: object, buffers: Sequence[object]) -> None:
        """Answer a valid question; drop anything else."""
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
            return {"refused": f"the question could not be answered ({type(error).__name__})"}

    @property
    def outputs(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Two MIME bundles: the report's text and page, which are saved; the view, which needs the kernel.

        They are two outputs because JupyterLab, for one output with a widget, draws the widget or an error
        when a notebook is opened again, and no other form.
        """
        page = {kind: form for kind, form in self.report._repr_mimebundle_().items() if kind != MIME}
        page["text/html"] = f'<div class="inspector-page">{_INSTEAD}{page["text/html"]}</div>'
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return page, {WIDGET: view, "text/plain": ""}  # nbconvert needs a form that it can show
