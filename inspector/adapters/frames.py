"""Frames and code: which line of which function."""

# SPDX-License-Identifier: MIT
import sys
import types
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute


class Frames(Adapter):
    """Exact types; all that is read are fields of C, and no dict of locals is made."""

    def types(self) -> tuple[type, ...]:
        """Frame, code."""
        return (types.FrameType, types.CodeType)

    def self_test(self) -> None:
        """The frame that runs is among those that run."""
        if not _runs(sys._getframe()):
            raise ValueError("a frame that runs is not found")

    def layers(self, x: Any) -> Told:
        """Computed; in words the function, the line and whether it runs."""
        if type(x) is types.CodeType:
            seen = attribute("x.co_firstlineno", x.co_firstlineno)
            words = f"Code of {_function(x)}, from line {x.co_firstlineno:,}{_file(x)}."
        else:
            seen = attribute("x.f_lineno", x.f_lineno)
            line = f"in line {x.f_lineno or 0:,}{_file(x.f_code)}"
            runs = "runs" if _runs(x) else "does not run"
            words = f"A frame of {_function(x.f_code)}, {line}; it {runs} now."
        layer = Layer("wrapper", type_name(type(x)), "computed", "heap", "owned", (seen,))
        return Told((layer,), in_words=words)


def _function(code: types.CodeType) -> str:
    name = code.co_qualname.rpartition("<locals>.")[2]
    return "a module" if name == "<module>" else f"`{name}`"


def _file(code: types.CodeType) -> str:
    name = code.co_filename.rpartition("/")[2]
    return f" of {name}" if name else ""


def _runs(x: types.FrameType) -> bool:
    """Whether a thread is in it, or in what it called."""
    return id(x) in running()


def running() -> set[int]:
    """Ids of the frames of all threads; no variable here holds this function's own frame at its end."""
    tops, found = list(sys._current_frames().values()), set[int]()
    while tops:
        frame: types.FrameType | None = tops.pop()
        while frame is not None:
            found.add(id(frame))
            frame = frame.f_back
    return found


ADAPTER = Frames()
