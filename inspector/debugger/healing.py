"""Undo from outside what a killed gdb leaves in a process: breakpoint bytes (int3) and stopped threads.

Code is compared with the files that it is mapped from. A byte is restored only where it is an int3 and the
file has another: other differences are the program's own.
"""

# SPDX-License-Identifier: MIT
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from inspector.debugger.memory import proc

INT3: Final = 0xCC
_PIECE_BYTES: Final = 1 << 20
_PAUSE_S: Final = 0.01


class Planted(NamedTuple):
    """A byte of code that differs from its file."""

    address: int
    found: int
    original: int


class Healed(NamedTuple):
    """What was undone."""

    bytes_restored: int
    woken: bool
    """SIGCONT continued a stopped process."""
    runs: bool
    """Afterwards the process is neither stopped nor traced."""


def differences(pid: int) -> list[Planted]:
    """Every byte of the process's code that differs from its file."""
    found: list[Planted] = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
        for mapping in proc.code(pid):
            found += _differences(memory.fileno(), mapping)
    return found


def _differences(memory: int, mapping: proc.Code) -> Iterator[Planted]:
    try:
        with Path(mapping.path).open("rb", buffering=0) as file:
            for at in range(mapping.start, mapping.stop, _PIECE_BYTES):
                size = min(_PIECE_BYTES, mapping.stop - at)
                there = os.pread(memory, size, at)
                meant = os.pread(file.fileno(), size, mapping.file_offset + at - mapping.start)
                if there[: len(meant)] != meant[: len(there)]:
                    yield from (
                        Planted(at + i, a, b)
                        for i, (a, b) in enumerate(zip(there, meant, strict=False))
                        if a != b
                    )
    except OSError:  # the mapping or its file is gone
        return


def restore(pid: int) -> int:
    """Restore the file's byte at every int3 that was left; returns the number of bytes."""
    planted = [row for row in differences(pid) if row.found == INT3]
    if planted:
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
            for row in planted:
                os.pwrite(memory.fileno(), bytes([row.original]), row.address)
    return len(planted)


def heal(pid: int, deadline_s: float = 2.0) -> Healed:
    """Undo what an ended gdb left. Changes nothing where the process is traced.

    SIGCONT is always sent once: it discards a pending stop signal of gdb's (signal(7)), and a running
    process ignores it. It is repeated while a thread is stopped.
    """
    if not proc.alive(pid) or proc.tracer(pid):
        return Healed(0, False, False)
    try:
        restored = restore(pid)
    except OSError:  # it ended, or can no longer be written
        restored = 0
    woken, limit = "T" in proc.thread_states(pid), time.monotonic() + deadline_s
    os.kill(pid, signal.SIGCONT)
    while "T" in (states := proc.thread_states(pid)) and time.monotonic() < limit:
        woken = True
        os.kill(pid, signal.SIGCONT)
        time.sleep(_PAUSE_S)
    return Healed(restored, woken, bool(states) and not states & {"T", "t"})
