"""The evaluation loop where the interpreter's file names only a part of it, or all of it."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import struct

import pytest

from inspector.debugger.memory.loop_parts import LOOP, LoopParts
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

pytestmark = [pytest.mark.core, pytest.mark.quick]
BASE, TABLE, LOOP_AT, MOVED_AT, OTHER_AT = 0x400000, 0x500000, 0x410000, 0x402000, 0x420000


def address_of(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def test_the_running_interpreters_loop_is_found_and_nothing_else() -> None:
    found = LoopParts(RemoteMemory(os.getpid()), address_of(LOOP))
    assert found.parts[0].start == address_of(LOOP)
    assert 20_000 < sum(map(len, found.parts)) < 500_000
    assert found.has(address_of(LOOP) + 100)
    for other in ("PyEval_EvalCode", "PyObject_Vectorcall", "PyList_Append", "Py_RunMain"):
        assert not found.has(address_of(other)), other


class Planted(RemoteMemory):
    """A file whose loop jumps `jumps` times to code that was moved."""

    def __init__(self, jumps: int) -> None:
        self.pid = os.getpid()
        code = b"".join(
            b"\x0f\x84" + struct.pack("<i", MOVED_AT + 16 * n - (LOOP_AT + 6 * n + 6)) for n in range(jumps)
        ).ljust(256, b"\x90")
        rows = [(MOVED_AT, 4096), (LOOP_AT, len(code)), (OTHER_AT, 64)]
        entries = {
            TABLE + 4096 + 32 * n: struct.pack("<IIiI", 20, 4, 0, size) for n, (_, size) in enumerate(rows)
        }
        table = b"".join(struct.pack("<ii", at - TABLE, 4096 + 32 * n) for n, (at, _) in enumerate(rows))
        self.blocks = {
            BASE: b"\x7fELF".ljust(32, b"\0")
            + struct.pack("<Q", 64)
            + bytes(16)
            + struct.pack("<H", 2)
            + bytes(6),
            BASE + 64: struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, 0, 0, 4096),
            BASE + 120: struct.pack("<IIQQQQQQ", 0x6474E550, 4, 0, TABLE, TABLE, 0, 0, 4),
            TABLE: b"\x01\x1b\x03\x3b" + struct.pack("<iI", 0, len(rows)),
            TABLE + 12: table,
            LOOP_AT: code,
            **entries,
        }

    def read(self, address: int, size: int) -> bytes:
        if address not in self.blocks or len(self.blocks[address]) < size:
            raise Unreadable(f"{address:#x}")
        return self.blocks[address][:size]


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    row = (BASE, TABLE + 0x10000, "r-xp", 0, "1", "/usr/bin/python3")
    monkeypatch.setattr("inspector.debugger.memory.proc.maps", lambda pid: iter([row]))


@pytest.mark.usefixtures("one_file")
def test_code_that_its_jumps_lead_to_is_a_part_of_it() -> None:
    found = LoopParts(Planted(jumps=20), LOOP_AT)
    assert found.parts == (range(LOOP_AT, LOOP_AT + 256), range(MOVED_AT, MOVED_AT + 4096))
    assert found.has(MOVED_AT + 4095) and not found.has(MOVED_AT + 4096) and not found.has(OTHER_AT)


@pytest.mark.usefixtures("one_file")
def test_a_few_bytes_that_look_like_jumps_are_no_proof() -> None:
    assert LoopParts(Planted(jumps=3), LOOP_AT).parts == (range(LOOP_AT, LOOP_AT + 256),)
    assert LoopParts(Planted(jumps=20), LOOP_AT + 8).parts == ()
