"""Which mapping holds an address: the kernel's answer against /proc/self/maps."""

# SPDX-License-Identifier: MIT
import ctypes
import mmap
import os
import re
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector import _native
from inspector.binaries.mappings import kind_of, mapping
from inspector.facts.memory import Mapping, Range
from inspector.facts.unknown import Address, Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


def at(address: int, size: int = 1) -> Mapping:
    found = mapping(Range(Address(address), Address(address + size)))
    assert not isinstance(found, Unknown)
    return found


def address_of(memory: Any) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def test_kinds(tmp_path: Any) -> None:
    path = tmp_path / "a file"
    path.write_bytes(bytes(8192))
    with path.open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 0)
        private = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    with_nobody = mmap.mmap(-1, 8192, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    assert at(address_of(shared) + 4096 + 5).kind == "shared file"
    assert at(address_of(shared) + 5000).file == str(path)
    assert at(address_of(shared) + 5000).file_offset_bytes == 5000
    assert at(address_of(private)).kind == "file"
    assert at(address_of(with_nobody)).kind == "anonymous"
    assert at(address_of(mmap.mmap(-1, 4096))).kind == "shared memory"
    block = shared_memory.SharedMemory(create=True, size=100)
    try:
        assert at(np.frombuffer(block.buf, "u1").ctypes.data).kind == "shared memory"
    finally:
        block.close()
        block.unlink()
    assert at(id(object())).permissions.startswith("rw")
    assert isinstance(mapping(Range(Address(16), Address(17))), Unknown)


def test_names_of_rows() -> None:
    assert kind_of("rw-p", "[heap]") == "heap"
    assert kind_of("rw-p", "[stack]") == "stack"
    assert kind_of("r-xp", "[vdso]") == "vdso"
    assert kind_of("rw-p", "") == kind_of("rw-p", "[anon:glibc: malloc]") == "anonymous"
    assert kind_of("rw-s", "/memfd:x (deleted)") == kind_of("rw-s", "/dev/zero (deleted)") == "shared memory"
    assert kind_of("r--p", "/usr/lib/libm.so.6") == "file"
    assert kind_of("r--s", "/tmp/a") == "shared file"


def test_one_question_says_what_the_whole_table_says() -> None:
    """For every row, where the kernel has PROCMAP_QUERY (Linux 6.11); older ones get the table itself."""
    asked = 0
    for start, stop, permissions, offset, _, name in _native.maps():
        found = _native.mapping_at(start + (stop - start) // 2)
        if found is not None and found[:2] == (start, stop):  # rows may move meanwhile
            asked += 1
            assert found[2:5] == (permissions, offset, name)
    assert asked > 20 or _native.mapping_at(id(asked)) is None


def test_the_table_answers_where_the_kernel_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = mmap.mmap(-1, 4096)
    expected = at(address_of(memory))
    monkeypatch.setattr(_native, "mapping_at", lambda address: None)
    assert at(address_of(memory)) == expected
    assert isinstance(mapping(Range(Address(16), Address(17))), Unknown)


def test_huge_pages_of_hugetlbfs_are_told_by_page_size(monkeypatch: pytest.MonkeyPatch) -> None:
    row = (0, 1 << 30, "rw-p", 0, "/anon_hugepage (deleted)", 1 << 21)
    monkeypatch.setattr(_native, "mapping_at", lambda address: row)
    assert at(4096).huge_pages is True


def test_reading_what_is_present() -> None:
    memory = mmap.mmap(-1, 1 << 20)
    start = address_of(memory)
    memory[:4] = b"here"
    assert _native.read_present(start, 4) == b"here"
    assert _native.read_present(start + (1 << 19), 4) is None
    assert _native.read_present(16, 4) is None
    for count in (0, -1, 257):
        with pytest.raises(ValueError, match="1 to 256"):
            _native.read_present(start, count)


def test_transparent_huge_pages_are_told_by_the_kernel() -> None:
    """A madvised block of 8 MB holds whole huge pages once it is written, if the machine has them."""
    if "[never]" in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text():
        pytest.skip("cannot be installed: this kernel runs without transparent huge pages")
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 7):
        pytest.skip("cannot be installed: this kernel is older than Linux 6.7")
    memory = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    middle = address_of(memory) + (4 << 20)
    assert isinstance(at(middle).huge_pages, Unknown), "not in memory yet, and not brought in by the look"
    assert isinstance(at(middle).huge_pages, Unknown)
    memory[4 << 20] = 1
    assert at(middle).huge_pages is _huge_by_smaps(middle)
    plain = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    plain.madvise(mmap.MADV_NOHUGEPAGE)
    plain[4 << 20] = 1
    assert at(address_of(plain) + (4 << 20)).huge_pages is False


def _huge_by_smaps(address: int) -> bool:
    """Whether the mapping that holds `address` has anonymous huge pages, by /proc/self/smaps."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            start, stop = (int(part, 16) for part in line.split()[0].split("-"))
            inside = start <= address < stop
        if inside and line.startswith("AnonHugePages:"):
            return int(line.split()[1]) > 0
    raise AssertionError("no such mapping")


def test_many_places_are_read_at_once_or_not_at_all() -> None:
    """More places than one call of the kernel takes; a page that was never touched stays so."""
    memory = mmap.mmap(-1, 1 << 20)
    start, data = address_of(memory), bytes(range(251)) * 2000
    memory[: len(data)] = data
    offsets = range(0, len(data) - 8, 311)
    read = _native.read_present([start + at for at in offsets], 8)
    assert len(offsets) > 1024 and read == b"".join(data[at : at + 8] for at in offsets)
    untouched = start + (1 << 20) - 4096
    assert _native.read_present([start, untouched, start + 8], 8) is None
    assert _native.read_present([untouched], 8) is None
    assert _native.read_present([], 8) == b""
    with pytest.raises(TypeError):
        _native.read_present(["here"], 8)
