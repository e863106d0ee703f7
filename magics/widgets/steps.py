"""A stopped child: where it stands, its variables and mixed stack, and buttons that step it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from inspector.magics.widgets.base import View, said, source
from inspector.magics.widgets.breaks import argument, frame_row

from inspector.facts.stack import Stop
from inspector.facts.unknown import Unknown
from inspector.report import Report

WORDS: Final = {
    "next": "over calls to the next line",
    "step": "into calls to the next line",
    "finish": "to the end of this function",
    "continue": "to the next stop",
    "up": "look at the caller",
    "down": "look at the callee",
    "quit": "end the child",
}
"""What a button may ask: no expression ever comes from a page."""
MOST_ROWS: Final = 100
"""Variables, and frames, that go to the page."""

Step = Callable[[str], tuple[Stop | None, str]]
"""Takes one of WORDS; where the child stands then, None where it has ended, and what is to be said."""


class StepsView(View):
    """`%%inspect_debug --live`."""

    _esm = source("kit.js", "steps.js")

    def shows(self, stop: Stop | None, printed: str) -> None:
        """Draw where the child stands now, in every front end; what was seen last stays when it has ended."""
        if stop is None:
            self.scene = {**self.scene, "ended": said(printed, 200) or "the child has ended"}
        else:
            self.scene = scene(stop, printed)


def open_view(fact: Stop, report: Report, step: Step, printed: str = "") -> StepsView:
    """The view of a stop."""

    def asked(question: Mapping[str, Any]) -> Mapping[str, Any]:
        word = question.get("word")
        if type(word) is not str or word not in WORDS:
            return {"refused": "not a word of the debugger"}
        made.shows(*step(word))
        return {}

    made = StepsView(scene(fact, printed), report, step=asked)
    return made


def scene(fact: Stop, printed: str) -> dict[str, Any]:
    """Where it stands."""
    return {
        "words": [{"word": word, "says": says} for word, says in WORDS.items()],
        "reason": said(fact.reason or "stands still", 60),
        "function": said(fact.function),
        "line": "" if isinstance(fact.line, Unknown) else said(fact.line.rpartition("/")[2], 60),
        "variables": [argument(one) for one in fact.variables[:MOST_ROWS]],
        "frames": [frame_row(one) for one in fact.stack.frames[:MOST_ROWS]],
        "left_out": max(len(fact.variables) - MOST_ROWS, 0) + max(len(fact.stack.frames) - MOST_ROWS, 0),
        "printed": said(printed, 200),
        "ended": "",
    }
