"""Live view of breakpoint hits: places, hits, and the arguments and mixed stack of the chosen hit."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector.magics.widgets.base import View, fitting, said

from inspector.facts.stack import Argument, Frame, Hit, Hits
from inspector.facts.unknown import Unknown
from inspector.report import Report

MOST_HITS: Final = 1_000
"""Hits that are sent to the page; equal stacks and frames are sent once."""


def open_view(fact: Hits, report: Report) -> View:
    """The view of the hits."""
    return View("breaks.js", fitting(lambda most: scene(fact, most), MOST_HITS, report.everything), report)


def scene(fact: Hits, most: int = MOST_HITS) -> dict[str, Any]:
    """Hits that name their stack by number, stacks that name their frames."""
    shown = fact.hits[:most]
    stacks = list(dict.fromkeys(hit.stack.frames for hit in shown))
    frames = list(dict.fromkeys(frame for stack in stacks for frame in stack))
    stack_at = {stack: at for at, stack in enumerate(stacks)}
    frame_at = {frame: at for at, frame in enumerate(frames)}
    places = {place.place: at for at, place in enumerate(fact.places)}
    begun = min((hit.at_ns for hit in shown), default=0)
    return {
        "places": [
            {"name": said(one.place, 60), "hits": one.hits, "says": said(one.says)} for one in fact.places
        ],
        "counted": sum(one.hits for one in fact.places),
        "hits": [
            {
                "place": places.get(hit.place, -1),
                "at": hit.at_ns - begun,
                "stack": stack_at[hit.stack.frames],
                **_hit(hit),
            }
            for hit in shown
        ],
        "stacks": [[frame_at[frame] for frame in stack] for stack in stacks],
        "frames": [frame_row(frame) for frame in frames],
        "dropped": fact.dropped + len(fact.hits) - len(shown),
        "frozen": fact.frozen_ns,
        "stopped": fact.stopped_ns,
        "ended": said(fact.ended, 200),
    }


def _hit(hit: Hit) -> dict[str, Any]:
    arguments = () if isinstance(hit.arguments, Unknown) else hit.arguments
    return {
        "number": hit.number,
        "thread": hit.stack.thread_id,
        "arguments": [argument(one) for one in arguments],
    }


def argument(one: Argument) -> dict[str, str]:
    """A variable in the form that kit.js draws."""
    return {
        "name": said(one.name, 40),
        "type": said(one.type_name, 60),
        "value": said(one.value),
        "evidence": one.evidence,
    }


def frame_row(frame: Frame) -> dict[str, Any]:
    """A frame in the form that kit.js draws."""
    return {
        "function": said(frame.function),
        "library": "" if isinstance(frame.library, Unknown) else said(frame.library, 60),
        "line": "" if isinstance(frame.line, Unknown) else said(frame.line.rpartition("/")[2], 60),
        "python": frame.kind == "python",
        "plumbing": frame.plumbing,
    }
