"""Find a thread of a stopped process that may call a function: a safe point.

A thread is safe in a system call that can wait for long: it is then not inside malloc or the loader. It must
also get the GIL at once: the GIL is free, or this thread holds it, or a thread that is seen to run bytecode,
which releases it on request. Where Python's first thread itself runs bytecode, CPython's own safe points are
used (Py_AddPendingCall, c-api/init).
"""

# SPDX-License-Identifier: MIT
import struct
from pathlib import Path
from typing import Any, Final, NamedTuple

from inspector.debugger.attach import object_layout as at
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

READ: Final = (0, 19, 45, 47, 43, 288)
"""read, readv, recvfrom, recvmsg, accept, accept4: of a pipe, a socket, a terminal."""
WAIT: Final = (7, 23, 34, 35, 61, 128, 130, 230, 232, 247, 270, 271, 281)
"""poll, select, pause, nanosleep, wait4, rt_sigtimedwait, rt_sigsuspend, clock_nanosleep, epoll_wait, waitid,
pselect6, ppoll, epoll_pwait: numbers of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl)."""
LOCK: Final = 202
"""futex: waiting for a lock of Python is safe, waiting inside libc is not."""
AGAIN: Final = 219
"""restart_syscall: a wait that was interrupted before; its argument registers are unchanged."""
_OF_LOCK: Final = 0x80
"""FUTEX_PRIVATE_FLAG, in the second argument (futex(2)): libc sets it for all its locks."""
_STREAMS: Final = ("pipe:", "socket:", "anon_inode:", "/dev/pts/", "/dev/tty", "/dev/null")
_BLOCKED_FAULT: Final = 1 << 10
"""SIGSEGV in a signal mask: this signal tells us that a call has returned."""
_STACK_WORDS: Final = 96
_THREADS_MAX: Final = 4096


class Spot(NamedTuple):
    """One stopped thread."""

    thread: int
    waits: bool
    """It waits in a system call at which a function may be called."""
    system_call: int
    """Its number; negative: in no system call."""
    stack: int
    instruction: int


class Turn(NamedTuple):
    """The state of the GIL."""

    taken: bool
    holder: int
    """The thread that holds it; 0: none, or one that Linux does not know."""
    is_first: bool
    """The holder is the thread that initialized Python."""
    at_bytecode: int
    """The holder's bytecode instruction; where it changes, the holder runs bytecode."""


class Python(NamedTuple):
    """What is read of a process's Python, as plain numbers; made from Runtime."""

    lock: int
    """The address of the GIL."""
    first_thread: int
    interpreter: int
    threads: int
    next_thread: int
    native_thread_id: int
    current_frame: int
    frame_of_c_frame: int
    instruction: int
    waits: list[tuple[int, int]]
    """(start, stop) of the functions in which Python waits for its locks."""


def turn(memory: RemoteMemory, python: Python) -> Turn:
    """The state of the GIL. Raises Unreadable."""
    if not struct.unpack("<i", memory.read(python.lock + at.LOCKED, 4))[0]:
        return Turn(False, 0, False, 0)
    state = memory.word(python.lock + at.LOCK_HOLDER)
    holder = memory.word(state + python.native_thread_id)
    is_first = memory.word(state + python.native_thread_id - 8) == python.first_thread
    if is_first and holder not in proc.threads(memory.pid):
        holder = memory.pid  # forked without PyOS_AfterFork: uWSGI's workers keep their parent's id
    frame = memory.word(state + python.current_frame)
    if frame and python.frame_of_c_frame >= 0:
        frame = memory.word(frame + python.frame_of_c_frame)
    return Turn(True, holder, is_first, memory.word(frame + python.instruction) if frame else 0)


def spots(memory: RemoteMemory, python: Python, asleep: set[int]) -> list[Spot]:
    """All threads; `asleep`: those that slept before the stop."""
    found = []
    for thread in proc.threads(memory.pid)[:_THREADS_MAX]:
        number, words = _system_call(memory.pid, thread)
        if words:
            waits = thread in asleep and _may_call(memory, python, thread, number, words)
            found.append(Spot(thread, waits, number, words[-2], words[-1]))
    return found


def _system_call(pid: int, thread: int) -> tuple[int, list[int]]:
    """(number, [arguments, stack pointer, instruction]) of proc(5), syscall; (-1, []) for an ended thread."""
    try:
        words = Path(f"/proc/{pid}/task/{thread}/syscall").read_text().split()
        return int(words[0]), [int(word, 16) for word in words[1:]]
    except (OSError, ValueError, IndexError):
        return -1, []


def _may_call(memory: RemoteMemory, python: Python, thread: int, number: int, words: list[int]) -> bool:
    if int(proc.status(memory.pid, "SigBlk", thread) or "0", 16) & _BLOCKED_FAULT:
        return False
    if number in READ:
        try:
            return str(Path(f"/proc/{memory.pid}/fd/{words[0]}").readlink()).startswith(_STREAMS)
        except OSError:
            return False
    if number == LOCK or (number == AGAIN and words[1] & _OF_LOCK):
        return _waits_for_python(memory, python, words[-2])
    return number in WAIT or number == AGAIN


def _waits_for_python(memory: RemoteMemory, python: Python, stack: int) -> bool:
    """Whether Python waits for one of its locks: a return address into its wait function is on the stack."""
    try:
        raw = memory.read(stack, 8 * _STACK_WORDS)
    except Unreadable:
        return False
    words = [word for (word,) in struct.iter_unpack("<Q", raw)]
    return any(start < word < stop for start, stop in python.waits for word in words)


class Choice(NamedTuple):
    """Where to call."""

    thread: int
    pending: bool
    """By Py_AddPendingCall: Python's first thread runs the call itself."""


def choice(found: list[Spot], now: Turn, before: Turn | None, pid: int) -> Choice | None:
    """A safe point, or None; prefers the process's first thread."""
    waiting = sorted((spot.thread != pid, spot.thread) for spot in found if spot.waits)
    if not now.taken:
        return Choice(waiting[0][1], False) if waiting else None
    if any(thread == now.holder for _, thread in waiting):
        return Choice(now.holder, False)
    runs = before is not None and before.holder == now.holder and before.at_bytecode != now.at_bytecode
    if not runs:
        return None
    if now.is_first:
        return Choice(now.holder, True)
    return Choice(waiting[0][1], False) if waiting else None


def obstacle(found: list[Spot], now: Turn, pid: int) -> dict[str, Any]:
    """What prevented a safe point, as plain values: the GIL's holder, else the process's first thread."""
    wanted = now.holder if now.taken else pid
    spot = next((one for one in found if one.thread == wanted), None)
    instruction = spot.instruction if spot else 0
    return {"taken": now.taken, "thread": wanted, "instruction": instruction, "python": bool(now.at_bytecode)}
