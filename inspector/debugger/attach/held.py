"""Read another process while it is stopped: in a forked child, so that the child's end resumes the process.

The kernel detaches a tracer that ends, whatever ended it (ptrace(2)). The child has a deadline; it returns
plain values.
"""

# SPDX-License-Identifier: MIT
import errno
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from inspector import _native
from inspector.debugger import preflight
from inspector.debugger.attach.still_memory import StillMemory
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError, heard
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.objects.isolation import run

STOP_S: Final = 2.0
"""Seconds for threads to stop; a thread that does not sleeps in the kernel, and the process is resumed."""
AGAIN_S: Final = 0.02
_TRIES: Final = 3
_TORN: Final = ("not-read", "no-such-path")
"""Slugs of errors that a stop in the middle of a change may cause; the read is then repeated."""
_MEMORY_BYTES: Final = 1 << 31


def held(pid: int, question: Callable[[RemoteMemory], Any], annotation: Any, deadline_s: float) -> Any:
    """What `question` returns while the process is stopped: a fact of type `annotation`.

    Raises what it raises, and InspectorError: ptrace-forbidden, already-traced, not-stopped, not-read;
    TargetGone: no-process.
    """
    preflight.check_free(pid)
    ask = partial(_ask, pid, question)
    answer = run(ask, deadline_s, _MEMORY_BYTES)
    for _ in range(_TRIES - 1):
        if isinstance(answer, Unknown) or answer[0] != "refused" or answer[1]["slug"] not in _TORN:
            break
        time.sleep(AGAIN_S)
        answer = run(ask, deadline_s, _MEMORY_BYTES)
    if isinstance(answer, Unknown):
        raise InspectorError(
            f"{pid} ({proc.program(pid)}) was not read.",
            slug="not-read",
            why=answer.reason,
            do="try again; the process was resumed",
        )
    kind, value = answer
    if kind == "refused":
        raise heard(value)
    if kind == "error":
        raise _not_stopped(pid, value)
    return from_wire(annotation, value)


def _ask(pid: int, question: Callable[[RemoteMemory], Any]) -> tuple[str, Any]:
    begin = time.perf_counter_ns()
    try:
        threads = _native.remote_stop(pid, STOP_S)
    except OSError as error:
        return "error", error.errno or 0
    try:
        fact = question(StillMemory(pid))
    except InspectorError as error:
        return "refused", error.told()
    except Unreadable as error:
        return "refused", _unreadable(pid, error).told()
    finally:
        _native.remote_go(threads)
    wire = to_wire(fact)
    if "stopped_ns" in wire:
        wire["stopped_ns"] = time.perf_counter_ns() - begin
    return "fact", wire


def _unreadable(pid: int, error: Unreadable) -> InspectorError:
    what = f"{pid} ({proc.program(pid)}): its memory cannot be read at {error}."
    why = "a pointer there is invalid: an object under construction, or none"
    return InspectorError(what, slug="not-read", why=why, do="try again")


def _not_stopped(pid: int, number: int) -> InspectorError:
    if number == errno.ESRCH:
        return preflight.gone(pid)
    if number != errno.ETIMEDOUT:
        return preflight.forbidden(pid, os.strerror(number), preflight.scope())
    state = "D" if "D" in proc.thread_states(pid) else "?"
    return InspectorError(
        f"{pid} ({proc.program(pid)}) did not stop within {STOP_S:g} s.",
        slug="not-stopped",
        why=f"a thread sleeps in the kernel, uninterruptibly (state {state})",
        do="try again when it has returned; the process was resumed",
    )
