"""A process of its own that calls into another Python: waits for a safe point, has a text run, puts all back.

Nothing may end it in the middle, for a thread of the other process would return into nothing: so it is no
child that is killed at a deadline, and no signal of the terminal reaches it. One object of JSON comes in, one
goes out:

    {"pid", "deadline_s", "text", "functions": {...}, "python": [...]}  ->  {"called", "held_ns", ...}
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from typing import Any, Final

from inspector import _native
from inspector.debugger.attach.safe_point import Choice, Python, Spot, Turn, choice, spots, told, turn
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

STOP_S: Final = 1.0
AGAIN_S: Final = 0.02
AT_ONCE_S: Final = 0.05
"""So long the rest of the process stands still while a thread takes the GIL, which nobody has."""
WAIT_S: Final = 3600.0
_MAP: Final = (0, 0, 3, 0x22, 2**64 - 1, 0)
"""mmap: anywhere, readable and writable, private and anonymous."""
Threads = list[tuple[int, int]]


class Visit:
    """One text, run once in one process."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.pid: int = asked["pid"]
        self.memory = RemoteMemory(self.pid)
        self.functions: dict[str, int] = asked["functions"]
        self.python = Python(**asked["python"])
        self.text = asked["text"].encode() + b"\0"
        self.limit = time.monotonic() + asked["deadline_s"]
        self.queue: bool = asked.get("queue", False)

    def run(self) -> dict[str, Any]:
        """Try until the deadline; who stood in the way where no safe point came."""
        before: Turn | None = None
        while True:
            asleep = {thread for thread, state in proc.states(self.pid).items() if state == "S"}
            begin = time.perf_counter_ns()
            threads = _native.remote_stop(self.pid, STOP_S)
            try:
                found, now = spots(self.memory, self.python, asleep), self._turn()
                where = choice(found, now, before, self.pid)
                if where is not None:
                    return {**self._call(where, threads), "held_ns": time.perf_counter_ns() - begin}
                if time.monotonic() > self.limit:
                    left = self._pending(threads[0][0], threads) if self.queue else {"called": False}
                    return {**told(found, now, self.pid), **left}
            finally:
                _native.remote_go(threads)
            before = now
            time.sleep(AGAIN_S)

    def _turn(self) -> Turn:
        try:
            return turn(self.memory, self.python)
        except Unreadable:  # a thread state that is being made
            return Turn(True, 0, False, 0)

    def _call(self, where: Choice, threads: Threads) -> dict[str, Any]:
        """`threads` are those that stand still; who is let go of is taken out of it."""
        if where.pending:
            return self._pending(where.thread, threads)
        call = partial(self._called, where.thread)
        room = self._room(where.thread)
        kept = _native.remote_begin_call(where.thread, self.functions["ensure"])
        ensured = _native.remote_end_call(where.thread, kept, AT_ONCE_S)
        own = [row for row in threads if row[0] == where.thread]
        others = [row for row in threads if row[0] != where.thread]
        threads[:] = own
        _native.remote_go(others)
        if ensured is None:
            ensured = _native.remote_end_call(where.thread, kept, WAIT_S) or 0
        try:
            call("run", room)
        finally:
            call("release", ensured)
            call("munmap", room, len(self.text))
        return {"called": True, "thread": where.thread, "pending": False}

    def _room(self, thread: int) -> int:
        """The text, laid into memory of the process that is its own."""
        room = self._called(thread, "mmap", 0, len(self.text), *_MAP[2:])
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
            os.pwrite(memory.fileno(), self.text, room)
        return room

    def _called(self, thread: int, name: str, *words: int) -> int:
        kept = _native.remote_begin_call(thread, self.functions[name], *words)
        return _native.remote_end_call(thread, kept, WAIT_S) or 0

    def _pending(self, thread: int, threads: Threads) -> dict[str, Any]:
        """CPython's own queue: the text is run when the first thread comes to a safe point."""
        room = self._room(thread)
        own = [row for row in threads if row[0] == thread]
        kept = _native.remote_begin_call(thread, self.functions["pending"], self.functions["run"], room)
        if _native.remote_end_call(thread, kept, AT_ONCE_S) is None:
            _native.remote_go([row for row in threads if row[0] != thread])
            threads[:] = own
            _native.remote_end_call(thread, kept, WAIT_S)
        return {"called": True, "thread": thread, "pending": True, "room": room, "room_bytes": len(self.text)}


def forget(asked: dict[str, Any]) -> dict[str, Any]:
    """A pending text that was run, or that is to do nothing: its room is given back, or its text emptied."""
    pid, room = asked["pid"], asked["room"]
    threads = _native.remote_stop(pid, STOP_S)
    try:
        if asked["run"]:
            kept = _native.remote_begin_call(
                threads[0][0], asked["functions"]["munmap"], room, asked["room_bytes"]
            )
            _native.remote_end_call(threads[0][0], kept, WAIT_S)
        else:
            with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
                os.pwrite(memory.fileno(), b"\0", room)
    finally:
        _native.remote_go(threads)
    return {"called": True}


def main() -> None:
    """Answer what stdin asks."""
    asked = json.load(sys.stdin)
    try:
        said = forget(asked) if "room" in asked else Visit(asked).run()
    except (OSError, Unreadable) as error:
        said = {"called": False, "error": str(error)}
    print(json.dumps(said), flush=True)


__all__ = ["Spot", "Visit", "forget", "main"]
