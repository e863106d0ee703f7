"""Stacks of another process without gdb: pystack reads native and Python frames, which we merge."""

# SPDX-License-Identifier: MIT
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.debugger import preflight, swift_names
from inspector.debugger.memory import proc
from inspector.debugger.memory.merge import marked, merged
from inspector.errors import InspectorError
from inspector.facts.stack import Frame, Stack, Stacks
from inspector.facts.unknown import Unknown


def stacks(pid: int) -> Stacks:
    """The stacks of all Python threads of process `pid`; stops the process for some milliseconds.

    Raises InspectorError: pystack-missing, ptrace-forbidden, already-traced, no-stacks; TargetGone:
    no-process.
    """
    preflight.check_access(pid)
    pystack = reader("stacks of another process")
    begin = time.perf_counter_ns()
    try:
        both = pystack.NativeReportingMode.ALL
        threads = list(pystack.get_process_threads(pid, stop_process=True, native_mode=both))
    except Exception as error:  # pystack's own errors and OSError
        raise InspectorError(
            f"the stacks of {pid} ({proc.program(pid)}) cannot be read.",
            slug="no-stacks",
            why=" ".join(str(error).split())[:200] or type(error).__name__,
            do="check that it is a Python; `inspector break --pid` reads native frames of any program",
        ) from None
    took = time.perf_counter_ns() - begin
    return Stacks(
        pid,
        proc.program(pid),
        swift_names.readable(stack_of(thread, proc.thread_name(pid, thread.tid)) for thread in threads),
        took,
    )


def reader(what: str) -> Any:
    """pystack's engine. Raises InspectorError pystack-missing; `what`: what it would read."""
    try:
        import pystack.engine
    except ImportError:
        raise InspectorError(
            f"{what} are read by pystack, which is not installed.",
            slug="pystack-missing",
            do="pip install native-inspector[stacks]",
        ) from None
    return pystack.engine


def stack_of(thread: Any, name: str) -> Stack:
    """The Stack of one thread of pystack."""
    version = thread.python_version
    python = ".".join(map(str, version)) if version else Unknown("pystack does not say")
    frames = merged(list(_native(thread)), list(_segments(thread)))
    return Stack(thread.tid, name, frames, python, False)


def _native(thread: Any) -> Iterator[Frame]:
    """The native frames, innermost first; pystack has the outermost first."""
    for frame in reversed(thread.native_frames):
        library = Path(frame.library).name if frame.library else Unknown("in no loaded file")
        line = f"{frame.path}:{frame.linenumber}" if frame.linenumber else Unknown("no debug information")
        yield marked(Frame("native", frame.symbol or f"{frame.address:#x}", library, line, False))


def _segments(thread: Any) -> Iterator[list[Frame]]:
    """The Python frames of each entry from C, innermost first."""
    found: list[Frame] = []
    for frame in reversed(list(thread.all_frames)):
        if not frame.is_shim:
            code = frame.code
            found.append(
                Frame("python", code.scope, code.filename, f"{code.filename}:{code.location.lineno}", False)
            )
        if frame.is_entry and found:
            yield found
            found = []
    if found:
        yield found
