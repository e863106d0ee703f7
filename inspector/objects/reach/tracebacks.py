"""The variables that a traceback keeps: those of the frames that it names and that run no more."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Final

from inspector import _native
from inspector.adapters.frames import running

MOST_FRAMES: Final = 100
_SHELL: Final = ("/IPython/", "/ipykernel/")
"""Folders of the code that runs cells: its variables are not the user's."""
_TRACEBACK: Final = vars(BaseException)["__traceback__"]


def variables(error: BaseException) -> Iterator[tuple[str, str, Any]]:
    """(variable, its function, value) of the frames that the exception's traceback keeps, innermost first."""
    traceback: TracebackType | None = _TRACEBACK.__get__(error)
    frames = list[FrameType]()
    while traceback is not None and len(frames) < MOST_FRAMES:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    alive = running() if frames else set()  # a frame among its own locals stays
    for frame in reversed(frames):
        code = frame.f_code
        if id(frame) in alive or any(folder in code.co_filename for folder in _SHELL):
            continue
        for name, value in _native.frame_locals(frame):
            yield name, code.co_qualname, value
