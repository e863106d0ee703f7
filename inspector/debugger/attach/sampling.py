"""Where another process spends its time: samples of its Python frames while it runs.

The process is not stopped: a stack that changes while it is read is dropped and counted.
"""

# SPDX-License-Identifier: MIT
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from inspector.debugger import preflight
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory import proc
from inspector.debugger.memory.python_frames import PythonFrames
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError
from inspector.facts.remote import Sampled, Samples
from inspector.facts.stack import Frame, Stack, Stacks

PAUSE_S: Final = 0.01
SECONDS_MAX: Final = 3600.0
_STACKS_MAX: Final = 10_000
_TRIES: Final = 3
_AGAIN_S: Final = 0.02


def sampled(pid: int, found: Runtime, seconds: float) -> Samples:
    """Sample the Python frames of process `pid` every 10 ms for `seconds`.

    Raises InspectorError: ptrace-forbidden, bad-option; TargetGone: no-process.
    """
    check_seconds(seconds)
    memory = opened(pid)
    reader = PythonFrames(memory, found.address, found.frames)
    counts: Counter[tuple[int, tuple[Frame, ...]]] = Counter()
    rounds = unread = 0
    program = proc.program(pid)
    names: dict[int, str] = {}
    used = proc.cpu_seconds(pid)
    end = time.monotonic() + seconds
    while time.monotonic() < end and proc.alive(pid):
        rounds += 1
        for thread in proc.threads(pid):
            names.setdefault(thread, proc.thread_name(pid, thread))
            try:
                frames = tuple(frame for segment in reader.segments(thread) for frame in segment)
            except (Unreadable, UnicodeDecodeError, IndexError):
                unread += 1
                continue
            if frames and (len(counts) < _STACKS_MAX or (thread, frames) in counts):
                counts[thread, frames] += 1
        time.sleep(PAUSE_S)
    version = f"3.{found.where.minor}"
    stacks = tuple(
        Sampled(count, Stack(thread, names[thread], frames, version, False))
        for (thread, frames), count in counts.most_common()
    )
    memory.close()
    return Samples(pid, program, seconds, rounds, unread, stacks, max(proc.cpu_seconds(pid) - used, 0.0))


def check_seconds(seconds: float) -> None:
    """Raise InspectorError bad-option for an invalid number of seconds."""
    if not 0 < seconds <= SECONDS_MAX:
        raise InspectorError(
            f"cannot sample for {seconds:g} s.",
            slug="bad-option",
            why=f"seconds are more than 0 and at most {SECONDS_MAX:g}",
            do="inspector attach PID sample --seconds 5",
        )


def python_stacks(memory: RemoteMemory, found: Runtime) -> Stacks:
    """The Python frames of all threads that have some; the process is stopped."""
    begin, pid = time.perf_counter_ns(), memory.pid
    reader = PythonFrames(memory, found.address, found.frames)
    said = f"3.{found.where.minor}, Python frames only: pystack reads the native ones"
    threads = []
    for thread in proc.threads(pid):
        frames = tuple(frame for segment in reader.segments(thread) for frame in segment)
        if frames:
            threads.append(Stack(thread, proc.thread_name(pid, thread), frames, said, False))
    return Stacks(pid, proc.program(pid), tuple(threads), time.perf_counter_ns() - begin)


def opened(pid: int) -> RemoteMemory:
    """The memory of a process, to be closed. Raises InspectorError: ptrace-forbidden; TargetGone."""
    if not proc.alive(pid):
        raise preflight.gone(pid)
    try:
        return RemoteMemory(pid)
    except Unreadable as error:
        raise preflight.forbidden(pid, str(error), preflight.scope()) from None


def unstopped(pid: int, question: Callable[[RemoteMemory], Any]) -> Any:
    """What `question` reads of a process that goes on, such as one that our own gdb traces.

    For what stands still by itself, as threads that wait do. A read in the middle of a change is repeated.
    Raises InspectorError not-read where none succeeds, and what `opened` raises.
    """
    for _ in range(_TRIES):
        memory = opened(pid)
        try:
            return question(memory)
        except Unreadable:
            time.sleep(_AGAIN_S)
        finally:
            memory.close()
    raise InspectorError(
        f"{pid} ({proc.program(pid)}) was not read.",
        slug="not-read",
        why="its memory changed each time while it was read",
        do="try again",
    )
