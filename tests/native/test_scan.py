"""The memory scan: what it finds, what it leaves out, and what it survives."""

# SPDX-License-Identifier: MIT
import ctypes
import faulthandler
import gc
import mmap
import random
import signal
import struct
import sys
import tempfile
import time

import pytest
from fingerprints import resident_pages
from threads import repeating

from inspector import _native

pytestmark = pytest.mark.core


def needle(address: int, size: int = 8) -> tuple[int, int]:
    return (address, address + size)


def words_at(buffer: bytearray | mmap.mmap, words: dict[int, int]) -> int:
    """Plants words at byte offsets; gives the buffer's address."""
    for offset, value in words.items():
        struct.pack_into("=Q", buffer, offset, value)
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def mapped(size: int, words: dict[int, int]) -> tuple[mmap.mmap, int]:
    """A private mapping with planted words, and its address."""
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return buffer, words_at(buffer, words)


def inside(hits: list[tuple[int, int]], start: int, size: int) -> dict[int, int]:
    """Of the hits those in a mapping: offset -> what stands there."""
    return {word - start: value for word, value in hits if start <= word < start + size}


@pytest.fixture
def target() -> int:
    """An address that is in nobody's memory: high bits no mapping uses, and never written as one word."""
    return 0x5EAF00D_0000_0000 + random.Random(7).randrange(1 << 28) * 8


@pytest.mark.quick
@pytest.mark.parametrize("portable", [False, True])
def test_finds_every_planted_word_and_no_other(target: int, portable: bool) -> None:
    offsets = [0, 8, 56, 64, 4096 - 8, 4096, 65536 + 24, (1 << 20) - 8]
    before, *_ = _native.scan_words([needle(target)], portable=portable)
    _buffer, start = mapped(1 << 20, {offset: target + offset % 8 for offset in offsets})
    hits, count, *_ = _native.scan_words([needle(target)], portable=portable)
    assert before == [] and count == len(hits)
    assert inside(hits, start, 1 << 20).keys() == set(offsets)


@pytest.mark.parametrize("portable", [False, True])
def test_low_three_bits_are_tags_and_no_more(target: int, portable: bool) -> None:
    _buffer, start = mapped(4096, {8 * i: target - 1 + i for i in range(10)})
    hits, *_ = _native.scan_words([needle(target)], portable=portable)
    assert sorted(inside(hits, start, 4096).values()) == list(range(target, target + 8))


@pytest.mark.parametrize("needles", [1, 2, 3, 7, 8, 9, 100, 5000])
@pytest.mark.parametrize("portable", [False, True])
def test_many_needles_are_found_in_one_pass(target: int, needles: int, portable: bool) -> None:
    chosen = [target + 4096 * 3 * i for i in range(needles)]
    words = {8 * (7 * i % (1 << 17)): address + 16 for i, address in enumerate(chosen)}
    _buffer, start = mapped(1 << 20, words)
    hits, *_ = _native.scan_words([needle(address, 40) for address in chosen], portable=portable)
    assert inside(hits, start, 1 << 20) == words


def test_needles_come_in_any_order(target: int) -> None:
    _buffer, start = mapped(4096, {0: target + 1000 * 8, 8: target})
    hits, *_ = _native.scan_words([needle(target + 8000), needle(target)])
    assert inside(hits, start, 4096).keys() == {0, 8}


def test_ranges_left_out_are_not_read(target: int) -> None:
    _buffer, start = mapped(1 << 20, {0: target, 8192: target, (1 << 20) - 8: target})
    everything, *_ = _native.scan_words([needle(target)])
    left_out = [(start + 4096, start + (1 << 20) - 4096)]
    hits, _, _, left, _ = _native.scan_words([needle(target)], left_out)
    assert inside(everything, start, 1 << 20).keys() == {0, 8192, (1 << 20) - 8}
    assert inside(hits, start, 1 << 20).keys() == {0, (1 << 20) - 8}
    assert left >= 8192


def test_untouched_pages_stay_untouched() -> None:
    size = 64 << 20
    buffer, start = mapped(size, {0: 1})
    _, _, _, left_out, _ = _native.scan_words([needle(id(buffer))])
    assert resident_pages(start, size) < 600  # one page, or one huge page
    assert left_out > size // 2


def test_hits_beyond_the_limit_are_counted(target: int) -> None:
    _buffer, _ = mapped(4096, {8 * i: target for i in range(100)})
    hits, count, *_ = _native.scan_words([needle(target)], limit=10)
    assert len(hits) == 10 and count >= 100, "the number itself may stand in freed memory too"


def test_survives_memory_that_goes_while_it_is_read(target: int) -> None:
    rounds = scans = 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

    def churn() -> None:
        nonlocal rounds
        address = libc.mmap(None, 8 << 20, mmap.PROT_READ | mmap.PROT_WRITE, 0x22, -1, 0)
        libc.memset(address, 1, 8 << 20)
        libc.munmap(address, 8 << 20)  # ctypes gives the GIL up: this happens during the scan
        rounds += 1

    ballast = bytearray(64 << 20)
    ballast[::4096] = b"x" * (len(ballast) // 4096)
    begun = time.monotonic()
    with repeating(2, churn):
        while time.monotonic() < begun + 2 or (min(scans, rounds) <= 5 and time.monotonic() < begun + 60):
            _native.scan_words([needle(target)])
            scans += 1
    assert scans > 5 and rounds > 5


@pytest.mark.quick
def test_a_page_that_cannot_be_read_is_left_out(target: int) -> None:
    """A truncated file under a private mapping: SIGBUS at the pages behind its end."""
    with tempfile.TemporaryFile() as file:
        file.truncate(16384)
        mapping = mmap.mmap(
            file.fileno(), 16384, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE
        )
        start = words_at(mapping, {0: target, 8192: target})
        file.truncate(4096)
        hits, *_ = _native.scan_words([needle(target)])
        assert (start, target) in hits


@pytest.mark.quick
def test_fault_handlers_are_put_back() -> None:
    def handler(number: int) -> bytes:
        libc = ctypes.CDLL(None)
        action = ctypes.create_string_buffer(256)
        assert libc.sigaction(number, None, action) == 0
        return action.raw[:16] + action.raw[136:140]  # handler, first word of the mask, flags

    was_enabled = faulthandler.is_enabled()
    before = [handler(signal.SIGSEGV), handler(signal.SIGBUS)]
    _native.scan_words([needle(id(before))])
    assert [handler(signal.SIGSEGV), handler(signal.SIGBUS)] == before
    assert faulthandler.is_enabled() == was_enabled


@pytest.mark.parametrize("bad", [None, 3, [3], [(1,)], [("a", "b")]])
def test_bad_needles_are_refused(bad: object) -> None:
    with pytest.raises(TypeError):
        _native.scan_words(bad)  # type: ignore[arg-type]


def test_no_needles_find_nothing() -> None:
    assert _native.scan_words([])[0] == []
    assert _native.scan_words([(8, 8)])[0] == []


@pytest.mark.quick
def test_read_gives_bytes_or_none() -> None:
    held = b"some bytes"
    assert _native.read(id(held) + bytes.__basicsize__ - 1, len(held)) == held
    assert _native.read(0, 8) is None
    assert _native.read(id(held), 0) == b""
    with pytest.raises(ValueError, match="cannot read -1"):
        _native.read(id(held), -1)


def test_maps_say_what_the_kernel_says() -> None:
    rows = _native.maps()
    assert rows == sorted(rows)
    assert any(row[5] == "[stack]" and row[2] == "rw-p" for row in rows)
    here = id(rows)
    (own,) = [row for row in rows if row[0] <= here < row[1]]
    assert own[2][:2] == "rw"
    extension = [row for row in rows if row[5] == _native.__file__]
    assert extension and extension[0][3] == 0 and extension[0][4] > 0


def test_scanning_leaks_nothing() -> None:
    def once() -> None:
        _native.scan_words([needle(id(once))])
        _native.read(id(once), 8)
        _native.maps()

    def blocks_after(times: int) -> int:
        for _ in range(times):
            once()
        gc.collect()
        return sys.getallocatedblocks()

    before = blocks_after(3)
    assert blocks_after(50) - before < 50
