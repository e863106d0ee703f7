"""What could be given back: what a copy of the process measures is what the call then frees here."""

# SPDX-License-Identifier: MIT
import json
import time

import programs
import pytest

from inspector import _native

PROGRAM = """
import ctypes, json, os, signal, sys
import inspector
size, one_of = map(int, sys.argv[1:])
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [libc.malloc(size) for _ in range(80_000_000 // size)]
for block in blocks: ctypes.memset(block, 1, size)
for n, block in enumerate(blocks):
    if n % one_of: libc.free(block)
forks, ended = [], []
os.register_at_fork(before=lambda: forks.append(1))
signal.signal(signal.SIGCHLD, lambda *_: ended.append(1))
found = inspector.memory(give_back=True)
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
before = resident()
libc.malloc_trim(0)
(told,) = found.returnable
freed = before - resident()
print(json.dumps([told.kept_bytes, told.freed_bytes, freed, found.answers[1].text, forks, ended]))
"""


@pytest.mark.core
def test_what_a_call_would_give_back_is_what_it_gives_back() -> None:
    kept, told, freed, said, *disturbed = json.loads(programs.python(PROGRAM, "8000", "10"))
    assert abs(told - freed) < 0.05 * kept and told > 50_000_000
    assert said.startswith("`ctypes.CDLL(None).malloc_trim(0)` gives 6")
    assert disturbed == [[], []]


@pytest.mark.core
def test_free_memory_between_live_blocks_is_said_to_stay() -> None:
    kept, told, freed, said, *_ = json.loads(programs.python(PROGRAM, "2000", "2"))
    assert kept > 30_000_000 and max(told, freed) < 0.05 * kept
    assert ": live blocks lie on " in said


@pytest.mark.core
def test_a_call_that_raises_or_does_not_end_is_not_told() -> None:
    assert _native.give_back_try(lambda: 1 // 0, 60_000) is None
    assert _native.give_back_try(lambda: time.sleep(3_600), 100) is None
    assert _native.give_back_try(lambda: None, 60_000) == 0


def test_arrows_pool_is_asked_too() -> None:
    pytest.importorskip("pyarrow", reason="cannot be installed")
    found = json.loads(
        programs.python(
            "import inspector, json, os, pyarrow as pa\n"
            "tables = [pa.nulls(2_000_000, pa.float64()).fill_null(n) for n in range(10)]\n"
            "del tables\n"
            "pool = pa.default_memory_pool()\n"
            "told = inspector.memory(give_back=True).returnable\n"
            "print(json.dumps([pool.backend_name, [(one.call, one.freed_bytes) for one in told]]))"
        )
    )
    calls = dict(found[1])
    if found[0] != "system":
        assert calls["pyarrow.default_memory_pool().release_unused()"] > 100_000_000
