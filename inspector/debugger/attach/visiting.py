"""Run a text of Python in another process: find the functions there, start calling.py, read its answer."""

# SPDX-License-Identifier: MIT
import json
import subprocess
from bisect import bisect_left
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from inspector.binaries.symbol_table import elf, symbol_table
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.client import python
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory
from inspector.facts.unknown import Unknown

PATIENCE_S: Final = 30.0
"""Seconds beyond the deadline, for a call that has begun at a safe point."""
_ROOT: Final = Path(__file__).resolve().parents[3]
_BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inspector.debugger.attach.calling import main; main()"
)
_PYTHON: Final = {
    "run": "PyRun_SimpleString",
    "ensure": "PyGILState_Ensure",
    "release": "PyGILState_Release",
    "pending": "Py_AddPendingCall",
}
_SYSTEM: Final = {"mmap": "mmap", "munmap": "munmap"}
_WAITS: Final = ("PyThread_acquire_lock_timed", "PyEvent_WaitTimed")
"""The functions in which Python waits for its locks: up to 3.12, and since (Python/lock.c)."""


class Doors(NamedTuple):
    """Addresses in one process that a call needs, found once."""

    pid: int
    library: str
    """The path of its libpython; "" where the program itself contains Python."""
    functions: dict[str, int]
    python: dict[str, Any]


def doors(found: Runtime, memory: RemoteMemory) -> Doors | Unknown:
    """The addresses of the functions that a call needs; Unknown where the process does not export one."""
    pid = memory.pid
    functions = _functions(pid, found.file, _PYTHON)
    for path in {row.path for row in proc.code(pid) if _is_libc(PurePath(row.path).name)}:
        functions |= _functions(pid, path, _SYSTEM)
    missing = sorted((_PYTHON | _SYSTEM).keys() - functions.keys())
    if missing:
        return Unknown(f"it exports no {(_PYTHON | _SYSTEM)[missing[0]]}: the program hides its Python")
    where, frames, word = found.where, found.frames, memory.word
    lock = found.address + where.lock if where.minor == 11 else word(found.interpreter + where.lock)
    settings = {
        "lock": lock,
        "first_thread": word(found.address + where.main_thread),
        "interpreter": found.interpreter,
        "threads": frames.threads,
        "next_thread": frames.next_thread,
        "native_thread_id": frames.native_thread_id,
        "current_frame": frames.current_frame,
        "frame_of_c_frame": frames.frame_of_c_frame,
        "instruction": frames.instruction,
        "waits": [_span(pid, found.file, name) for name in _WAITS],
    }
    library = found.file if PurePath(found.file).name.startswith("libpython") else ""
    return Doors(pid, library, functions, settings)


def _is_libc(name: str) -> bool:
    return name.startswith(("libc.so", "libc-2", "ld-musl", "libc.musl"))


def _functions(pid: int, path: str, wanted: dict[str, str]) -> dict[str, int]:
    first = next(row for row in proc.code(pid) if row.path == path)
    found = elf(proc.mapped_file(pid, path), tuple(wanted.values()), ())
    if isinstance(found, Unknown):
        return {}
    bias = first.start - found.address(first.file_offset)
    return {key: bias + found.symbols[name] for key, name in wanted.items() if name in found.symbols}


def _span(pid: int, path: str, name: str) -> tuple[int, int]:
    """(start, stop) of a function; (0, 0) where its name is unknown."""
    start = _functions(pid, path, {"it": name}).get("it", 0)
    table = symbol_table(proc.mapped_file(pid, path)) if start else Unknown("no such name")
    if isinstance(table, Unknown):
        return 0, 0
    in_file = start - _bias(pid, path)
    at = bisect_left(table.starts, in_file)
    return start, start + table.stops[at] - table.starts[at]


def _bias(pid: int, path: str) -> int:
    first = next(row for row in proc.code(pid) if row.path == path)
    found = elf(proc.mapped_file(pid, path), (), ())
    return 0 if isinstance(found, Unknown) else first.start - found.address(first.file_offset)


def called(there: Doors, text: str, deadline_s: float, queue: bool = False) -> dict[str, Any]:
    """Run a text of Python there: {"called": True, ...}, or what prevented a safe point.

    `queue`: without a safe point, put the text into CPython's queue of pending calls.
    """
    request = {"text": text, "deadline_s": deadline_s, "python": there.python, "queue": queue}
    return _answer(there, request, deadline_s + PATIENCE_S)


def forgotten(there: Doors, said: dict[str, Any], run: bool) -> None:
    """Unmap the memory of a pending text that was `run`; empty a text that was not."""
    _answer(there, {"room": said["room"], "room_bytes": said["room_bytes"], "run": run}, PATIENCE_S)


def _answer(there: Doors, request: dict[str, Any], patience_s: float) -> dict[str, Any]:
    """Run calling.py in its own session; never kill it, because it must restore the other process."""
    child = subprocess.Popen(
        [python(), "-I", "-S", "-c", _BOOT, str(_ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    text = json.dumps({"pid": there.pid, "functions": there.functions, **request})
    try:
        answer, _ = child.communicate(text, timeout=patience_s)
    except subprocess.TimeoutExpired:
        return {"called": False, "error": f"the call has not come back within {patience_s:g} s"}
    found: dict[str, Any] = json.loads(answer) if answer else {"called": False, "error": "it was ended"}
    return found


def standing(there: Doors, said: dict[str, Any]) -> str:
    """One sentence: why there was no safe point."""
    if "error" in said:
        return f"it could not be called: {said['error']}"
    thread, name = said["thread"], proc.thread_name(there.pid, said["thread"])
    who = f"thread {thread} ({name})" if name else f"thread {thread}"
    at = _named(there.pid, said["instruction"])
    if said["taken"] and thread:
        return f"{who} holds the GIL in {at}, and did not come back to Python"
    if said["taken"]:
        return "the GIL is held by a thread that has ended"
    return f"no thread waits at a system call, nor runs Python: {who} is in {at}"


def _named(pid: int, address: int) -> str:
    """The function and file of an address there."""
    for row in proc.code(pid):
        if row.start <= address < row.stop:
            file = PurePath(row.path).name
            table = symbol_table(proc.mapped_file(pid, row.path))
            found = None if isinstance(table, Unknown) else table.find(address - _bias(pid, row.path))
            return (
                f"{found[0].partition('@')[0]} ({file})"
                if found
                else f"{file}+{address - row.start + row.file_offset:#x}"
            )
    return f"{address:#x}"
