"""The system call that a thread of another process is in: /proc/PID/task/TID/syscall (proc(5)).

Numbers are those of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl).
"""

# SPDX-License-Identifier: MIT
import contextlib
import re
from pathlib import Path
from typing import Final, NamedTuple

from inspector.debugger.memory import proc
from inspector.facts.waits import WaitKind

FUTEX: Final = 202
RESTARTED: Final = 219
"""restart_syscall(2): a wait that a stop interrupted; its arguments stay in the registers."""
_OF_FILE: Final = {
    0: "input from", 17: "input from", 19: "input from", 45: "input from", 47: "input from", 232: "events of",
    281: "events of", 441: "events of", 43: "a connection to", 288: "a connection to",
    1: "room to write to", 18: "room to write to", 20: "room to write to", 44: "room to write to",
    46: "room to write to", 42: "the connection of", 74: "the disk for", 75: "the disk for",
}  # fmt: skip
"""Calls whose first argument is a file: read, recvfrom, epoll_wait, accept, write ..."""
_EVENTS: Final = {7: "poll", 23: "select", 270: "pselect6", 271: "ppoll"}
_TIME: Final = {35, 230}
"""nanosleep, clock_nanosleep."""
_CHILDREN: Final = {61: "wait4", 247: "waitid"}
_FLOCK, _FCNTL = 73, 72
_LOCKING: Final = {6, 7, 38}
"""F_SETLK64, F_SETLKW and F_OFD_SETLKW: only the waiting ones last."""


class Call(NamedTuple):
    """A system call: its number, its six arguments, and the stack pointer."""

    number: int
    arguments: tuple[int, ...]
    stack: int


class Outside(NamedTuple):
    """What a thread waits for outside its process, and the processes that must act first."""

    kind: WaitKind
    what: str
    holders: tuple[int, ...]


def call_of(pid: int, thread: int) -> Call | None:
    """The thread's system call; None if it runs, or ended."""
    with contextlib.suppress(OSError, ValueError):
        number, *words = Path(f"/proc/{pid}/task/{thread}/syscall").read_text().split()
        values = tuple(int(word, 16) for word in words)
        if int(number) >= 0 and len(values) == 8:
            return Call(int(number), values[:6], values[6])
    return None


def outside(pid: int, call: Call) -> Outside:
    """What a call waits for that is no futex."""
    number, first = call.number, call.arguments[0] & 0xFFFFFFFF
    if number in _OF_FILE:
        return Outside("input", f"{_OF_FILE[number]} {_file(pid, first)}", ())
    if number in _EVENTS:
        return Outside("input", f"files or a deadline, in {_EVENTS[number]}", ())
    if number in _TIME:
        return Outside("time", "the end of a sleep", ())
    if number in _CHILDREN:
        child = (first,) if number == 61 and 0 < first < 1 << 31 else ()
        return Outside("process", f"process {first} to end" if child else "a child process to end", child)
    if number == _FLOCK or (number == _FCNTL and call.arguments[1] in _LOCKING):
        return Outside("file", f"a lock on {_file(pid, first)}", _lockers(pid, first))
    return Outside("call", f"system call {number}", ())


def _file(pid: int, number: int) -> str:
    try:
        path = str(Path(f"/proc/{pid}/fd/{number}").readlink())
    except OSError:
        return f"fd {number}"
    if path == "anon_inode:[eventpoll]":  # what asyncio and other loops wait in
        return f"an event loop (fd {number})"
    kind = re.match(r"(socket|pipe|anon_inode):", path)
    name = {"socket": "a socket", "pipe": "a pipe", "anon_inode": "an event"}[kind[1]] if kind else path
    return f"{name} (fd {number})"


def _lockers(pid: int, number: int) -> tuple[int, ...]:
    """Processes that have a lock on the file of a descriptor: /proc/locks; a waiting one has "->"."""
    with contextlib.suppress(OSError):
        inode = str(Path(f"/proc/{pid}/fd/{number}").stat().st_ino)
        rows = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        found = [int(row[4]) for row in rows if "->" not in row and row[5].rpartition(":")[2] == inode]
        return tuple(one for one in found if proc.alive(one))
    return ()
