"""Run a function in a forked child, with a deadline and a memory limit. The only place that forks.

The child is a copy of this process: it sees every live object. Only its result comes back, as `marshal`
bytes (plain built-in values, so the child cannot choose code to run here). If the child fails (exception,
signal, deadline, limit), the caller gets an `Unknown(reason)`.

Limits. A fork copies only the calling thread: a lock that another thread holds at that moment stays locked
in the child for ever. We hold the GIL while forking, so Python's state is consistent, and glibc makes malloc
safe; locks of libraries that work without the GIL remain. So `run` refuses while another thread keeps running
on a processor; sleeping threads are accepted, and the deadline ends a child that waits for their locks.
"""

# SPDX-License-Identifier: MIT
import contextlib
import ctypes
import faulthandler
import marshal
import os
import resource
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

from inspector.facts.unknown import Unknown

TRIES, PAUSE_S = 20, 0.02
"""Checks of the other threads before a fork is refused, and the pause between, in seconds."""
RESULT_BYTES_MAX: Final = 16 * 2**20
"""A larger result is refused by the child, before it is sent."""

DIED: Final = "the child died of"
"""Beginning of the reason if a signal ended the child."""

_DONE, _RAISED, _REFUSED = b"d", b"r", b"n"


def run(function: Callable[[], Any], deadline_s: float, memory_limit_bytes: int) -> Any | Unknown:
    """What `function()` returns in a forked child, or `Unknown(reason)`.

    `deadline_s`: seconds after which the child is killed. `memory_limit_bytes`: address space it may
    map beyond what this process has mapped now (RLIMIT_AS, setrlimit(2)). The result must be made of
    None, bool, int, float, str, bytes, tuple, list, dict and set.
    """
    if busy := _still_running():
        threads = "thread" if busy == 1 else "threads"
        return Unknown(f"not forked: {busy} other {threads} running, whose locks would stay held")
    reader, writer = os.pipe()
    pid = _fork()
    if pid == 0:
        os.close(reader)
        _child(function, writer, memory_limit_bytes)
    os.close(writer)
    try:
        answer = _read(reader, time.monotonic() + deadline_s)
    finally:
        os.close(reader)
        status = _reap(pid)
    return _result(answer, status, deadline_s)


def _still_running() -> int:
    """`running_threads` after a short wait: threads of a library run on for a moment after its import."""
    for _ in range(TRIES):
        if not running_threads():
            return 0
        time.sleep(PAUSE_S)
    return running_threads()


def fork_waiting(function: Callable[[], None]) -> tuple[int, int, int]:
    """(pid, go, output) of a child that runs `function` when a byte is written to the descriptor `go`.

    Its output arrives at the descriptor `output`. It exits with 1 if `function` raises, and is killed when
    this process ends (PR_SET_PDEATHSIG, prctl(2)); any process may trace it (PR_SET_PTRACER_ANY). The
    caller waits for it and closes both descriptors.
    """
    waits, go = os.pipe()
    output, writes = os.pipe()
    pid = _fork()
    if pid:
        os.close(waits)
        os.close(writes)
        return pid, go, output
    try:
        code = 1
        os.close(go)
        os.close(output)
        os.setsid()
        faulthandler.disable()  # it would write to the parent's file
        _tie_to_parent()
        for descriptor in (1, 2):
            os.dup2(writes, descriptor)
        sys.stdout = sys.stderr = os.fdopen(os.dup(writes), "w", buffering=1)
        sys.displayhook = sys.__displayhook__
        os.read(waits, 1)
        code = _run_said(function)
        sys.stdout.flush()
    finally:
        os._exit(code)


def _tie_to_parent() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)
    libc.prctl(0x59616D61, ctypes.c_ulong(2**64 - 1), 0, 0, 0)


def _run_said(function: Callable[[], None]) -> int:
    try:
        function()
    except BaseException:
        import traceback

        traceback.print_exc()
        return 1
    return 0


def seize(pid: int) -> int:
    """0, or the errno of PTRACE_SEIZE (ptrace(2)): it stops nothing, and ends with the calling process."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    libc.ptrace.restype = ctypes.c_long
    return ctypes.get_errno() if libc.ptrace(0x4206, pid, 0, 0) else 0


def leave_parent(log: str) -> None:
    """Continue in a detached child: a session of its own, no terminal, output into the file `log`.

    The calling process exits with 0. For a fresh process with one thread, as the second step of a double
    fork (daemon(7)): the parent has no child to wait for, and its signals do not reach this child.
    """
    if os.fork():
        os._exit(0)
    os.setsid()
    null, file = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor, source in enumerate((null, file, file)):
        os.dup2(source, descriptor)


def running_threads() -> int:
    """Threads of this process, other than the calling one, that now run or wait for a disk."""
    own = str(threading.get_native_id())
    count = 0
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread ended meanwhile
            state = (task / "stat").read_text().rpartition(") ")[2][:1]
            count += task.name != own and state in "RD"
    return count


def _fork() -> int:
    with warnings.catch_warnings():  # 3.12 warns of any fork with threads; see above
        warnings.simplefilter("ignore", DeprecationWarning)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # None, or closed
                stream.flush()
        return os.fork()


def _child(function: Callable[[], Any], writer: int, memory_limit_bytes: int) -> NoReturn:
    try:
        _quiet()
        _limit(memory_limit_bytes)
        try:
            message = _pack(function())
        except BaseException as error:
            message = _RAISED + _say(error).encode("utf-8", "replace")
        view = memoryview(message)
        while view:
            view = view[os.write(writer, view) :]
    finally:
        os._exit(0)


def _quiet() -> None:
    """In the child: keep its output and its exit handlers from the parent's terminal."""
    faulthandler.disable()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _limit(memory_limit_bytes: int) -> None:
    mapped_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = mapped_bytes + memory_limit_bytes
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _pack(value: Any) -> bytes:
    try:
        raw = marshal.dumps(value)
    except ValueError:
        return _REFUSED + f"its result, {type(value).__name__}, is not made of plain values".encode()
    if len(raw) > RESULT_BYTES_MAX:
        return _REFUSED + f"its result has {len(raw)} bytes, the limit is {RESULT_BYTES_MAX}".encode()
    return _DONE + raw


def _say(error: BaseException) -> str:
    try:
        words = str(error)[:200]
    except BaseException:  # a user's __str__ that raises
        words = ""
    return f"it raised {type(error).__name__}" + (f": {words}" if words else "")


def _read(reader: int, deadline: float) -> bytes | None:
    """All that the child wrote, or None after the deadline."""
    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    chunks: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            chunk = os.read(reader, 2**16)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
    return None


def _reap(pid: int) -> int:
    """Kill the child, if it still runs, and return its exit status."""
    with contextlib.suppress(ProcessLookupError):
        if (ended := os.waitpid(pid, os.WNOHANG))[0] == pid:
            return ended[1]
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _result(answer: bytes | None, status: int, deadline_s: float) -> Any | Unknown:
    if answer is None:
        return Unknown(f"the child was stopped after {deadline_s:g} s")
    mark, body = answer[:1], answer[1:]
    if mark == _DONE:
        return marshal.loads(body)
    if mark in (_RAISED, _REFUSED):
        return Unknown(body.decode("utf-8", "replace"))
    if os.WIFSIGNALED(status):
        return Unknown(f"{DIED} {signal.Signals(os.WTERMSIG(status)).name}")
    return Unknown("the child ended without a result")
