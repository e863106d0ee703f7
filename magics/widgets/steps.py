"""Live view of a stopped child: its place, variables and mixed stack, and buttons that step it."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Mapping
from typing import Any, Final

from inspector.magics.widgets.base import View, said
from inspector.magics.widgets.breaks import argument, frame_row

from inspector.facts.stack import Stop
from inspector.facts.unknown import Unknown
from inspector.report import Report

WORDS: Final = {
    "next": "run to the next line, over calls",
    "step": "run to the next line, into calls",
    "finish": "run to the end of this function",
    "continue": "run to the next stop",
    "up": "show the caller",
    "down": "show the callee",
    "quit": "end the child",
}
"""What a button may do; a page can never send an expression."""
MOST_ROWS: Final = 100
"""Variables, and frames, that are sent to the page."""

Step = Callable[[str], tuple[Stop | None, str]]
"""Carries out one of WORDS; returns the new stop (None: the child ended) and a text to show."""


class StepsView(View):
    """`%%inspect_debug --live`."""

    def shows(self, stop: Stop | None, printed: str) -> None:
        """Draw the stop in all front ends; the last stop stays when the child has ended."""
        if stop is None:
            self.scene = {**self.scene, "ended": said(printed, 200) or "the child has ended"}
        else:
            self.scene = scene(stop, printed)


def open_view(fact: Stop, report: Report, step: Step, printed: str = "") -> StepsView:
    """The view of a stop."""

    def asked(question: Mapping[str, Any]) -> Mapping[str, Any]:
        word = question.get("word")
        if type(word) is not str or word not in WORDS:
            return {"refused": "unknown debugger command"}
        made.shows(*step(word))
        return {}

    made = StepsView("steps.js", scene(fact, printed), report, step=asked)
    return made


def scene(fact: Stop, printed: str) -> dict[str, Any]:
    """What the page draws of a stop."""
    return {
        "words": [{"word": word, "says": says} for word, says in WORDS.items()],
        "reason": said(fact.reason or "stopped", 60),
        "function": said(fact.function),
        "line": "" if isinstance(fact.line, Unknown) else said(fact.line.rpartition("/")[2], 60),
        "variables": [argument(one) for one in fact.variables[:MOST_ROWS]],
        "frames": [frame_row(one) for one in fact.stack.frames[:MOST_ROWS]],
        "left_out": max(len(fact.variables) - MOST_ROWS, 0) + max(len(fact.stack.frames) - MOST_ROWS, 0),
        "printed": said(printed, 200),
        "ended": "",
    }
