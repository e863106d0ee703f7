"""Where a process stands, and whether a function may be called there: asked while all its threads stand.

Safe is a thread at a system call in which it can wait for long, for there no code of libc's is cut in the
middle: neither malloc nor the loader. It must be able to have the GIL at once: nobody has it, or this thread,
or a thread that is seen to run bytecode, which gives it away when asked. Where the first thread of Python
itself runs bytecode, CPython's own safe points serve (Py_AddPendingCall, c-api/init).
"""

from __future__ import annotations

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
"""futex: a wait for a lock of Python's is safe, one inside libc is not."""
AGAIN: Final = 219
"""restart_syscall: a wait that was interrupted before, by us or another; its arguments are still those."""
_OF_LOCK: Final = 0x80
"""FUTEX_PRIVATE_FLAG, in the second argument (futex(2)): libc sets it on every lock of its own."""
_STREAMS: Final = ("pipe:", "socket:", "anon_inode:", "/dev/pts/", "/dev/tty", "/dev/null")
_BLOCKED_FAULT: Final = 1 << 10
"""SIGSEGV in a mask of signals: by it we learn that a call is over."""
_STACK_WORDS: Final = 96
_THREADS_MAX: Final = 4096


class Spot(NamedTuple):
    """One thread that stands still."""

    thread: int
    waits: bool
    """At a system call in which a function may be called."""
    system_call: int
    """Its number; negative: in none."""
    stack: int
    instruction: int


class Turn(NamedTuple):
    """The GIL."""

    taken: bool
    holder: int
    """The thread that has it; 0: nobody, or one that Linux does not know."""
    is_first: bool
    """The holder is the thread that began Python."""
    at_bytecode: int
    """Which instruction of Python the holder runs: changed, it runs bytecode."""


class Python(NamedTuple):
    """What of a process's Python is asked; from Runtime, as plain numbers."""

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
    """The code of functions in which Python waits for a lock of its own."""


def turn(memory: RemoteMemory, python: Python) -> Turn:
    """Who has the GIL. Raises Unreadable."""
    if not struct.unpack("<i", memory.read(python.lock + at.LOCKED, 4))[0]:
        return Turn(False, 0, False, 0)
    state = memory.word(python.lock + at.LOCK_HOLDER)
    holder = memory.word(state + python.native_thread_id)
    is_first = memory.word(state + python.native_thread_id - 8) == python.first_thread
    if is_first and holder not in proc.threads(memory.pid):
        holder = memory.pid  # forked, and Python was not told: uWSGI's workers keep their parent's number
    frame = memory.word(state + python.current_frame)
    if frame and python.frame_of_c_frame >= 0:
        frame = memory.word(frame + python.frame_of_c_frame)
    return Turn(True, holder, is_first, memory.word(frame + python.instruction) if frame else 0)


def spots(memory: RemoteMemory, python: Python, asleep: set[int]) -> list[Spot]:
    """Every thread; `asleep`: those that slept before they were stopped."""
    found = []
    for thread in proc.threads(memory.pid)[:_THREADS_MAX]:
        number, words = _system_call(memory.pid, thread)
        if words:
            waits = thread in asleep and _may_call(memory, python, thread, number, words)
            found.append(Spot(thread, waits, number, words[-2], words[-1]))
    return found


def _system_call(pid: int, thread: int) -> tuple[int, list[int]]:
    """(number, arguments, stack pointer and instruction) of proc(5), syscall; no words for one that ended."""
    try:
        told = Path(f"/proc/{pid}/task/{thread}/syscall").read_text().split()
        return int(told[0]), [int(word, 16) for word in told[1:]]
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
    """Whether the wait is one of Python's own: a return address into it is on the stack."""
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
    """By Py_AddPendingCall, which the first thread of Python carries out itself."""


def choice(found: list[Spot], now: Turn, before: Turn | None, pid: int) -> Choice | None:
    """The safe point there is, or None. The process's first thread is preferred."""
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


def told(found: list[Spot], now: Turn, pid: int) -> dict[str, Any]:
    """Who stood in the way, as plain values: the holder of the GIL, else the process's first thread."""
    wanted = now.holder if now.taken else pid
    spot = next((one for one in found if one.thread == wanted), None)
    instruction = spot.instruction if spot else 0
    return {"taken": now.taken, "thread": wanted, "instruction": instruction, "python": bool(now.at_bytecode)}
