"""Writes to a range of any size: its pages are protected, nothing of the program's fails by it."""

# SPDX-License-Identifier: MIT
import contextlib
import mmap
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import specimens
from apart import printed
from refused import refused
from writers import WRITERS

from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.facts.write import Writes
from inspector.objects.probes.machine import writes as probed
from inspector.report import Report
from inspector.sessions import running

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(
        probed().state != "ok" or _native.writes_pages_refused() != 0,
        reason="cannot be installed: a kernel that watches pages (Linux 6.7, perf)",
    ),
    pytest.mark.quick,
]
PAGE = 4096


@pytest.fixture(scope="module")
def wide() -> Any:
    return specimens.build("writers", WRITERS)


def private(size: int) -> np.ndarray:  # type: ignore[type-arg]
    """int64 zeros in a mapping of their own, no page of which was touched."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), dtype=np.int64)


@pytest.fixture
def x() -> np.ndarray:  # type: ignore[type-arg]
    """Four pages of int64 in a mapping of their own: no neighbour writes there."""
    room = private(4 * PAGE)
    room[:] = -1
    return room


@contextlib.contextmanager
def left_as_it_was() -> Iterator[None]:
    """No page is marked and SIGTRAP belongs to whom it belonged."""
    before = signal.getsignal(signal.SIGTRAP)
    yield
    flags = re.findall(r"^VmFlags:.*\buw\b", Path("/proc/self/smaps").read_text(), re.MULTILINE)
    assert not flags and signal.getsignal(signal.SIGTRAP) == before
    assert not _caught(signal.SIGTRAP)


def _caught(number: int) -> bool:
    status = Path("/proc/self/status").read_text()
    (mask,) = re.findall(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_each_write_is_there_with_its_value_and_both_stacks(wide: Any, x: Any) -> None:
    address = x.ctypes.data
    with left_as_it_was(), running.writes(x) as found:
        wide.store(address + 5 * 8, 7)
        wide.store(address + 3 * PAGE, 8)
        wide.store(address + 5 * 8, 7)
    rows = [(one.offset, one.before, one.after, one.written_bytes, one.stores) for one in found]
    assert rows == [(40, "-1", "7", 8, 1), (3 * PAGE, "-1", "8", 8, 1), (40, "7", "7", 8, 1)]
    facts = found.facts
    assert (facts.counted, facts.beside, facts.ended, facts.silent) == (3, 0, False, False)
    assert facts.means.startswith("4 protected pages, ")
    frames = facts.writes[0].stack.frames
    assert [one.function for one in frames if one.kind == "native"][:2] == ["wide_store", "store"]
    here = next(one for one in frames if one.kind == "python")
    assert here.function == "test_each_write_is_there_with_its_value_and_both_stacks"
    assert from_wire(Writes, to_wire(facts)) == facts


def test_one_pass_over_neighbours_is_one_record(x: Any) -> None:
    with running.writes(x) as found:
        x[8:72] = np.arange(64)[::-1]
    passes = [one for one in found if one.stores > 1 or one.written_bytes > 8]
    assert sum(one.written_bytes for one in passes) >= 63 * 8 and len(found) < 8
    assert list(x[8:72]) == list(range(63, -1, -1)) and x[7] == x[72] == -1


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_a_repeated_store_is_one_write_and_does_what_it_does(wide: Any, x: Any, width: int) -> None:
    raw = x.view(np.uint8)
    source = np.random.default_rng(1).integers(0, 255, 3 * PAGE, dtype=np.uint8)
    with running.writes(x) as found:
        wide.repeat(width, raw.ctypes.data + 100, source.ctypes.data, 2 * PAGE // width, 0)
        wide.repeat(width, raw.ctypes.data + 3 * PAGE, 0, 64 // width, 0)
    rows = [(one.offset, one.written_bytes, one.stores) for one in found]
    assert rows == [(100, 2 * PAGE, 1), (3 * PAGE, 64, 1)]
    assert bytes(raw[100 : 100 + 2 * PAGE]) == bytes(source[: 2 * PAGE]) and found.facts.silent is False
    assert not raw[3 * PAGE : 3 * PAGE + 64].any() and raw[3 * PAGE + 64] == raw[99] == 255


def test_a_repeated_store_that_begins_before_the_range_and_ends_behind_it(wide: Any, x: Any) -> None:
    raw, part = x.view(np.uint8), x[100:200]
    with running.writes(part) as found:
        wide.repeat(8, raw.ctypes.data, 0, 512, 5)
    assert [(one.offset, one.written_bytes) for one in found] == [(0, 800)]
    assert (x[:512] == 5).all() and x[512] == -1


def test_a_store_over_the_edge_of_a_page_and_of_the_range(wide: Any, x: Any) -> None:
    with running.writes(x[1:1000]) as found:
        wide.store(x.ctypes.data + PAGE - 3, 0)
        wide.store(x.ctypes.data + 4, 0)  # its second half is x[1]
        wide.store(x.ctypes.data, 9)
    assert [one.offset for one in found] == [PAGE - 8 - 8, 0] and found.facts.beside == 1
    assert found.facts.silent is False and x[0] == 9


def test_what_the_system_writes_goes_through_and_is_said(x: Any) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"\x07" * 2 * PAGE)
    with running.writes(x) as found:
        assert os.readv(reader, [x[64 : 64 + PAGE // 4]]) == 2 * PAGE
        x[3 * PAGE // 8] = 1
    os.close(reader)
    os.close(writer)
    assert (len(found), found.facts.silent) == (1, True)
    assert (x[64 : 64 + PAGE // 4].view(np.uint8) == 7).all()
    assert "the kernel wrote to it" in " ".join(Report("x", {"writes": found.facts}).to_text().split())


def test_threads_that_ran_before_and_begin_later_in_a_storm(wide: Any, x: Any) -> None:
    """Every store arrives, whoever steps; what passed unseen is said by comparison."""
    go = threading.Event()

    def early() -> None:
        go.wait(60)
        wide.storm(x.ctypes.data, 300, False)

    before = threading.Thread(target=early)
    before.start()
    with left_as_it_was(), running.writes(x, budget=5000) as found:
        go.set()
        rest = [
            threading.Thread(target=wide.storm, args=(x.ctypes.data + n * PAGE, 300, False)) for n in (1, 2)
        ]
        for one in rest:
            one.start()
        for one in [before, *rest]:
            one.join()
    sums = [int(x[n * 512 : n * 512 + 64].sum()) + 64 for n in range(3)]
    assert sums == [300, 300, 300]
    assert len({one.stack.thread_id for one in found}) == 3
    assert 3 <= found.facts.counted <= 900 and (found.facts.counted == 900) >= (found.facts.silent is False)


def test_a_thread_that_blocks_the_signal_is_never_made_to_step(wide: Any, x: Any) -> None:
    with left_as_it_was(), running.writes(x) as found:
        thread = threading.Thread(target=wide.storm, args=(x.ctypes.data, 500, True))
        thread.start()
        thread.join()
        wide.storm(x.ctypes.data + PAGE, 500, True)  # this thread too: it has a signal pending at the end
    assert int(x[:64].sum()) == int(x[512:576].sum()) == 500 - 64
    assert found.facts.silent is True and found.facts.ended is False


def test_the_budget_opens_the_pages_and_the_program_goes_on(wide: Any, x: Any) -> None:
    with left_as_it_was(), running.writes(x, budget=3) as found:
        for n in range(0, 1000, 100):
            wide.store(x.ctypes.data + n * 8, n)
    assert (len(found), found.facts.ended) == (3, True) and isinstance(found.facts.silent, Unknown)
    assert [int(value) for value in x[:1000:100]] == list(range(0, 1000, 100))
    with running.writes(x, budget=1) as found:
        x.fill(3)  # one pass: as many stores as a budget of one allows
    assert len(found) == 1 and (x == 3).all()


def test_signals_meanwhile_reach_their_handlers(wide: Any, x: Any) -> None:
    hits = []
    before = signal.signal(signal.SIGALRM, lambda *_: hits.append(x.__setitem__(9, len(hits))))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        with running.writes(x, budget=100_000) as found:
            for n in range(10):
                wide.storm(x.ctypes.data + PAGE, 100, False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert int(x[512:576].sum()) == 1000 - 64 and hits
    assert sum(one.stores for one in found) == found.facts.counted >= 1000


FORKED = """
import mmap, os
import numpy as np
from inspector.sessions import running
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
x = np.frombuffer(mmap.mmap(-1, 4096, flags=flags), dtype=np.int64)
reader, writer = os.pipe()
with running.writes(x{part}) as found:
    child = os.fork()
    if not child:
        os.close(writer)
        os._exit(len(os.read(reader, 1)))
    x[0] = 1
fresh = np.frombuffer(mmap.mmap(-1, 1 << 20, flags=flags), dtype=np.int64)
fresh[::512] = 1
x[0] = 2
os.close(writer)
assert os.waitpid(child, 0)[1] == 0 and len(found) == 1
"""


@pytest.mark.parametrize("part", ["", "[:1]"], ids=["pages", "words"])
def test_a_child_that_lives_on_keeps_no_watch_alive(part: str) -> None:
    printed("-c", FORKED.replace("{part}", part))


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # threads of other tests
def test_a_forked_child_is_not_watched_and_writes_as_it_likes(wide: Any, x: Any) -> None:
    with left_as_it_was(), running.writes(x) as found:
        child = os.fork()
        if not child:
            wide.storm(x.ctypes.data, 100, False)
            os._exit(0 if int(x[:64].sum()) == 36 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        wide.store(x.ctypes.data, 5)
    assert [one.after for one in found] == ["5"] and list(x[:2]) == [5, -1]
    assert found.facts.silent is False


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_what_another_process_writes_to_shared_memory_is_said(wide: Any) -> None:
    x = np.frombuffer(mmap.mmap(-1, PAGE), dtype=np.int64)
    with left_as_it_was(), running.writes(x) as found:
        child = os.fork()
        if not child:
            x[5] = 1
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        wide.store(x.ctypes.data, 5)
    assert [one.after for one in found] == ["5"] and x[5] == 1 and found.facts.silent is True


BUSY = """
import mmap, os, threading
import numpy as np
from inspector.sessions import running
one, flags = np.ones(1 << 17), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
def busy():
    while True:
        np.add(one, one, out=np.frombuffer(mmap.mmap(-1, one.nbytes, flags=flags)))
for _ in range(6):
    threading.Thread(target=busy, daemon=True).start()
x = np.frombuffer(mmap.mmap(-1, 4096, flags=flags), dtype=np.int64)
for n in range(100):
    with running.writes(x) as found:
        x[n] = n
    assert len(found) == 1
os._exit(0)
"""


def test_threads_that_are_on_their_way_out_of_a_page_fault_outlive_the_watch() -> None:
    """The kernel sends SIGTRAP when such a thread runs again: after the event was closed."""
    printed("-c", BUSY)


def test_pages_never_touched_stay_so(fingerprint: Callable[[object], Any]) -> None:
    empty = private(8 << 20)
    empty[0] = 1
    before, pages = fingerprint(empty), resident(empty)
    with left_as_it_was(), running.writes(empty) as found:
        pass
    facts = found.facts
    del found  # it keeps what it watches
    assert fingerprint(empty) == before and resident(empty) == pages <= 512  # one huge page
    assert (facts.counted, facts.silent) == (0, False)


def resident(x: Any) -> int:
    """Pages of its bytes that are there, by /proc/self/pagemap."""
    first, last = x.ctypes.data // PAGE, (x.ctypes.data + x.nbytes + PAGE - 1) // PAGE
    with open("/proc/self/pagemap", "rb") as table:
        table.seek(first * 8)
        words = np.frombuffer(table.read((last - first) * 8), dtype=np.uint64)
    return int((words >> np.uint64(63)).sum())


def test_an_exception_disarms_and_a_second_watch_is_refused(x: Any) -> None:
    watch = running.writes(x)
    with left_as_it_was(), pytest.raises(ZeroDivisionError), watch:
        x[0] = 1
        with refused("watch-running"), running.writes(x[:1]):
            pass
        1 / 0
    assert len(watch) == 1
    with running.writes(x[:1]) as found:
        x[0] = 2
    assert len(found) == 1


def test_a_range_that_is_too_wide_is_refused() -> None:
    with refused("too-wide"):
        running.writes(np.empty((256 << 20) + 1, dtype=np.uint8))
