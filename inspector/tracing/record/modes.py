"""The modes of a trace: keep the last records, all of them, or those of a sample of calls."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from inspector.errors import InspectorError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.tracing.record.recorder import Recorder

Mode = Literal["ring", "stream", "sample"]
GRADES = ("count", "record", "deep")


def choose(recorder: Recorder, mode: Mode, every: int, out: str | Path | None, native: bool) -> None:
    """Set the recorder's mode, and native frames. Raises InspectorError `bad-option`."""
    one_of = recorded_of(mode, every)
    if recorder.grade not in GRADES:
        raise _refused(f"grade is {recorder.grade!r}", "count, record or deep")
    if mode == "stream" and recorder.directory:
        raise _refused("keep= and mode='stream' are two files for the same records", "leave one of them out")
    if mode == "stream":
        from inspector.tracing.record.streamed import Stream

        recorder.stream = Stream(out)
    recorder.every = one_of
    _with_frames(recorder, native)


def recorded_of(mode: Mode, every: int) -> int:
    """N, if one of N calls is recorded. Raises InspectorError `bad-option`."""
    if mode not in get_args(Mode):
        raise _refused(f"mode is {mode!r}", "ring, stream or sample")
    if type(every) is not int or every < 1:
        raise _refused(f"every is {every!r}", "a whole number from 1 on: one of so many calls is recorded")
    return every if mode == "sample" else 1


def recorded_elsewhere(mode: Mode, every: int) -> int:
    """The same for another process, whose rings are files. Raises InspectorError `bad-option`."""
    if mode == "stream":
        raise _refused("a launched program writes no stream", "mode='sample', or trace() in its own code")
    return recorded_of(mode, every)


def _with_frames(recorder: Recorder, native: bool) -> None:
    if native and recorder.grade == "count":
        raise _refused("native frames and grade 'count' do not go together", "grade='record' or 'deep'")
    if native and recorder.directory:
        raise _refused("native frames are not kept in a folder", "leave keep= or native= out")
    recorder.native = native
    recorder.grade = "deep" if native else recorder.grade


def _refused(what: str, do: str) -> InspectorError:
    return InspectorError(f"{what}.", slug="bad-option", do=do)
