"""Pages told by the kernel: private, of zeros, of a file, shared; every byte once; nothing brought in."""

# SPDX-License-Identifier: MIT
import mmap
import os
import sys
from multiprocessing import shared_memory
from pathlib import Path

import fingerprints
import pytest

from inspector import _native
from inspector.binaries.mappings import mapping
from inspector.facts.materialization import Residency
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layers import smaps
from inspector.objects.layers.pages import residency

pytestmark = [pytest.mark.core, pytest.mark.quick]
PAGE = mmap.PAGESIZE
COUNT = 64


def span_of(memory: mmap.mmap | memoryview) -> Range:
    start = _native.ask_buffer(memory)[0]
    return Range(Address(start), Address(start + len(memory)))


def told(span: Range, cells: int = 8) -> Residency:
    found = residency([span], cells)
    assert isinstance(found, Residency)
    assert found.span_bytes == span.bytes
    return found


def anonymous() -> mmap.mmap:
    memory = mmap.mmap(-1, COUNT * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory


@pytest.fixture(params=[False, True], ids=["PAGEMAP_SCAN", "pagemap"])
def portable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both ways: the newer ioctl where the kernel has it, and the table of words."""
    if request.param:
        ask = _native.residency
        monkeypatch.setattr(_native, "residency", lambda ranges, cells: ask(ranges, cells, True))
    return bool(request.param)


def test_reserved_zero_and_private_are_told_apart(portable: bool) -> None:
    memory = anonymous()
    fresh = told(span_of(memory))
    assert (fresh.state, fresh.absent_bytes, fresh.strip) == ("reserved", COUNT * PAGE, "." * 8)
    assert sum(memory[i] for i in range(0, COUNT // 2 * PAGE, PAGE)) == 0
    memory[COUNT // 2 * PAGE] = 1
    after = told(span_of(memory))
    assert after.zero_page_bytes == COUNT // 2 * PAGE
    assert after.private_bytes == PAGE
    assert after.strip == "zzzz...."
    assert after.state == "zero-page"


def test_a_look_brings_no_page_in(portable: bool) -> None:
    memory = anonymous()
    span = span_of(memory)
    told(span)
    assert fingerprints.resident_pages(span.start, span.bytes) == 0


def test_bytes_are_those_of_the_span_not_of_its_pages(portable: bool) -> None:
    memory = anonymous()
    memory[0 : 3 * PAGE] = bytes([1]) * (3 * PAGE)
    start = span_of(memory).start
    part = told(Range(Address(start + 100), Address(start + 2 * PAGE + 7)))
    assert part.private_bytes == 2 * PAGE - 93
    overlapping = [
        Range(Address(start), Address(start + PAGE)),
        Range(Address(start + 10), Address(start + 20)),
    ]
    once = residency(overlapping)
    assert isinstance(once, Residency) and once.private_bytes == once.span_bytes == PAGE


def test_pages_of_a_file_and_their_private_copies(portable: bool, tmp_path: Path) -> None:
    path = tmp_path / "pages.bin"
    path.write_bytes(bytes([7]) * COUNT * PAGE)
    with path.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
    assert told(span_of(memory)).resident_bytes == 0
    assert memory[0] == 7
    read = told(span_of(memory))
    assert read.file_bytes >= PAGE and read.private_bytes == 0
    memory[0] = 8
    written = told(span_of(memory))
    assert written.private_bytes == PAGE
    assert written.file_bytes == read.file_bytes - PAGE


def test_shared_memory_is_shared(portable: bool) -> None:
    memory = shared_memory.SharedMemory(create=True, size=4 * PAGE)
    try:
        memory.buf[0] = 1
        found = told(span_of(memory.buf))
        assert (found.shared_bytes, found.absent_bytes) == (PAGE, 3 * PAGE)
    finally:
        memory.close()
        memory.unlink()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # threads of other tests
def test_what_a_forked_child_still_shares_is_shared() -> None:
    memory = anonymous()
    memory[:] = bytes([1]) * len(memory)
    if told(span_of(memory)).way != "PAGEMAP_SCAN":
        return  # the table alone cannot tell it from the page of zeros
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.read(read, 1)
        os._exit(0)
    try:
        assert told(span_of(memory)).shared_bytes == COUNT * PAGE
        memory[0] = 2
        assert told(span_of(memory)).private_bytes == PAGE
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)
        os.close(read), os.close(write)
    assert told(span_of(memory)).private_bytes == COUNT * PAGE


def test_no_ranges_and_no_memory() -> None:
    assert isinstance(residency([]), Unknown)
    nowhere = told(Range(Address(PAGE), Address(3 * PAGE)))
    assert nowhere.absent_bytes == 2 * PAGE
    behind = told(Range(Address(1 << 62), Address((1 << 62) + PAGE)))
    assert behind.absent_bytes == PAGE


def test_ranges_that_are_none_are_refused() -> None:
    for bad in (5, [5], [(1, 2)], [(1, "2", 0)]):
        with pytest.raises(TypeError):
            _native.residency(bad, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cells"):
        _native.residency([], 5000)


def test_smaps_tells_whole_mappings() -> None:
    memory = anonymous()
    memory[0 : 4 * PAGE] = bytes([1]) * (4 * PAGE)
    found = mapping(span_of(memory))
    assert not isinstance(found, Unknown)
    whole = smaps.residency([(found.range.start, found.range.stop)])
    assert isinstance(whole, Residency)
    assert whole.private_bytes >= 4 * PAGE and whole.way == "smaps"
    assert whole.span_bytes == found.range.bytes
    middle = span_of(memory).start + 20 * PAGE
    if found.range.bytes > 30 * PAGE:
        assert smaps.residency([(middle, middle + PAGE)]) == smaps.PART
    assert smaps.residency([(0, 1)], "nowhere") == smaps.CLOSED


@pytest.mark.skipif(sys.platform != "linux", reason="cannot be installed: Linux's own interfaces")
def test_where_pagemap_is_closed_smaps_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = anonymous()
    memory[:] = bytes([1]) * len(memory)
    monkeypatch.setattr(_native, "residency", lambda ranges, cells: None)
    found = mapping(span_of(memory))
    assert not isinstance(found, Unknown)
    whole = residency([found.range])
    assert isinstance(whole, Residency) and whole.way == "smaps"
