"""A separate process that runs a text of Python in another process at a safe point, and restores its thread.

It must not be killed midway, because a thread of the other process would then return to an invalid address:
no deadline kills it, and no signal of the terminal reaches it. It reads one JSON object and writes one:

    {"pid", "deadline_s", "text", "functions": {...}, "python": [...]}  ->  {"called", "held_ns", ...}
"""

# SPDX-License-Identifier: MIT
import json
import os
import sys
import time
from functools import partial
from typing import Any, Final

from inspector import _native
from inspector.debugger.attach.safe_point import Choice, Python, Spot, Turn, choice, obstacle, spots, turn
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

STOP_S: Final = 1.0
AGAIN_S: Final = 0.02
AT_ONCE_S: Final = 0.05
"""Seconds that the other threads stay stopped while a thread takes the free GIL."""
WAIT_S: Final = 3600.0
_MAP: Final = (0, 0, 3, 0x22, 2**64 - 1, 0)
"""mmap: anywhere, readable and writable, private and anonymous."""
Threads = list[tuple[int, int]]


class Visit:
    """One text to run once in one process."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.pid: int = request["pid"]
        self.memory = RemoteMemory(self.pid)
        self.functions: dict[str, int] = request["functions"]
        self.python = Python(**request["python"])
        self.text = request["text"].encode() + b"\0"
        self.limit = time.monotonic() + request["deadline_s"]
        self.queue: bool = request.get("queue", False)

    def run(self) -> dict[str, Any]:
        """Try until the deadline; the result, or what prevented a safe point."""
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
                    return {**obstacle(found, now, self.pid), **left}
            finally:
                _native.remote_go(threads)
            before = now
            time.sleep(AGAIN_S)

    def _turn(self) -> Turn:
        try:
            return turn(self.memory, self.python)
        except Unreadable:  # a thread state under construction
            return Turn(True, 0, False, 0)

    def _call(self, where: Choice, threads: Threads) -> dict[str, Any]:
        """Run the text. `threads`: the stopped threads; removes those that it resumes."""
        if where.pending:
            return self._pending(where.thread, threads)
        call = partial(self._called, where.thread)
        address = self._write_text(where.thread)
        kept = _native.remote_begin_call(where.thread, self.functions["ensure"])
        ensured = _native.remote_end_call(where.thread, kept, AT_ONCE_S)
        own = [row for row in threads if row[0] == where.thread]
        others = [row for row in threads if row[0] != where.thread]
        threads[:] = own
        _native.remote_go(others)
        if ensured is None:
            ensured = _native.remote_end_call(where.thread, kept, WAIT_S) or 0
        try:
            call("run", address)
        finally:
            call("release", ensured)
            call("munmap", address, len(self.text))
        return {"called": True, "thread": where.thread, "pending": False}

    def _write_text(self, thread: int) -> int:
        """Map memory in the process and write the text there; its address."""
        address = self._called(thread, "mmap", 0, len(self.text), *_MAP[2:])
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
            os.pwrite(memory.fileno(), self.text, address)
        return address

    def _called(self, thread: int, name: str, *words: int) -> int:
        kept = _native.remote_begin_call(thread, self.functions[name], *words)
        return _native.remote_end_call(thread, kept, WAIT_S) or 0

    def _pending(self, thread: int, threads: Threads) -> dict[str, Any]:
        """Put the text into CPython's queue of pending calls, which its first thread runs at a safe point."""
        address = self._write_text(thread)
        own = [row for row in threads if row[0] == thread]
        kept = _native.remote_begin_call(thread, self.functions["pending"], self.functions["run"], address)
        if _native.remote_end_call(thread, kept, AT_ONCE_S) is None:
            _native.remote_go([row for row in threads if row[0] != thread])
            threads[:] = own
            _native.remote_end_call(thread, kept, WAIT_S)
        return {
            "called": True,
            "thread": thread,
            "pending": True,
            "room": address,
            "room_bytes": len(self.text),
        }


def forget(request: dict[str, Any]) -> dict[str, Any]:
    """Unmap the memory of a pending text that was run; empty one that was not."""
    pid, address = request["pid"], request["room"]
    threads = _native.remote_stop(pid, STOP_S)
    try:
        if request["run"]:
            kept = _native.remote_begin_call(
                threads[0][0], request["functions"]["munmap"], address, request["room_bytes"]
            )
            _native.remote_end_call(threads[0][0], kept, WAIT_S)
        else:
            with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
                os.pwrite(memory.fileno(), b"\0", address)
    finally:
        _native.remote_go(threads)
    return {"called": True}


def main() -> None:
    """Carry out the request on stdin; write the answer to stdout."""
    request = json.load(sys.stdin)
    try:
        answer = forget(request) if "room" in request else Visit(request).run()
    except (OSError, Unreadable) as error:
        answer = {"called": False, "error": str(error)}
    print(json.dumps(answer), flush=True)


__all__ = ["Spot", "Visit", "forget", "main"]
