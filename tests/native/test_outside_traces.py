"""Addresses in disguise: each form at each place is found, by the quick ways and by the slow one alike."""

# SPDX-License-Identifier: MIT
import ctypes
import mmap
import random
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from inspector import _native

pytestmark = pytest.mark.core
WORD: Final = (1 << 64) - 1
DIGIT: Final = (1 << 30) - 1
FASTEST, PORTABLE, SLOW = range(3)
PAGE: Final = 4096
BYTES: Final = 3 << 20
SHIFTS: Final = (1, 2, 3, 4, 16)
HEAPS: Final = (0x55D4_3A12_0000, 0x7F3B_5C20_0000, 0x0000_01A3_4000, 0x7FFF_FFF0_0000)
ALIGNED: Final[dict[str, Callable[[int], int]]] = {
    "digits": lambda a: (a & DIGIT) | (a >> 30 & DIGIT) << 32,
    "inverted": lambda a: ~a & WORD,
    "swapped": lambda a: int.from_bytes(a.to_bytes(8, "little"), "big"),
    "tagged": lambda a: a | 0xFFF8 << 48,
    **{f"up {s}": lambda a, s=s: a << s & WORD for s in SHIFTS},
    **{f"down {s}": lambda a, s=s: a >> s for s in SHIFTS},
}
"""Forms of a word at a multiple of eight: name -> what is kept of an address."""
INSIDE: Final = ("digits", "inverted", "tagged")
"""Those that may name the inside of a block."""


class Memory:
    """Some memory of the test's own, with its address."""

    def __init__(self, bytes: int = BYTES) -> None:
        self.map = mmap.mmap(-1, bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.map[:] = b"\xee" * bytes
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.range = (self.start, self.start + bytes)

    def found(self, blocks: list[tuple[int, int]], way: int, stop: int | None = None) -> list[int]:
        """Offset of a word for each block; -1: none."""
        told = _native.raw_memory_disguised(blocks, [(self.start, stop or self.range[1])], way)
        return [word - self.start if word else -1 for word in told]


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory()


@contextmanager
def planted(memory: Memory, offset: int, content: bytes) -> Iterator[None]:
    before = memory.map[offset : offset + len(content)]
    memory.map[offset : offset + len(content)] = content
    yield
    memory.map[offset : offset + len(content)] = before


def spots() -> list[int]:
    """Multiples of eight around the ends of vectors, steps, pages, slices and of all."""
    edges = [0, 32, 128, PAGE, 1 << 20, 2 << 20, BYTES]
    near = {edge + 8 * k for edge in edges for k in range(-17, 17)}
    return sorted(spot for spot in near if 0 <= spot <= BYTES - 16)


def blocks_around(address: int) -> list[tuple[int, int]]:
    """That block among others of both kinds of heap."""
    others = [HEAPS[0] + 0x9_0000, HEAPS[1] + 0x123_4560]
    return sorted((start, start + 401) for start in (address, *others))


def is_found(memory: Memory, address: int, at: int) -> None:
    blocks = blocks_around(address)
    want = [at if start == address else -1 for start, _ in blocks]
    assert [memory.found(blocks, way) for way in (FASTEST, PORTABLE, SLOW)] == [want] * 3
    alone = [(address, address + 401)]
    assert [memory.found(alone, way) for way in (FASTEST, PORTABLE)] == [[at]] * 2


@pytest.mark.parametrize("heap", HEAPS, ids=hex)
@pytest.mark.parametrize("form", ALIGNED)
def test_each_form_of_a_word_is_found(memory: Memory, form: str, heap: int) -> None:
    address = heap + 0xB1230 & (~0xFFFF if form == "down 16" else WORD)
    if form == "digits" and address <= DIGIT:
        return  # one digit is the word itself
    for offset in (0, 200) if form in INSIDE and address >> 32 else (0,):
        with planted(memory, 4096 + 40, struct.pack("=Q", ALIGNED[form](address + offset))):
            is_found(memory, address, 4096 + 40)


@pytest.mark.parametrize("offset", [0, 200])
def test_an_int_of_one_digit_is_found(memory: Memory, offset: int) -> None:
    """Addresses of a program that is no PIE may be so low; what lies behind the digit is anything."""
    address, at = HEAPS[2] + 0xB1230, 4096 + 40
    with planted(memory, at - 16, struct.pack("=QQII", id(int), 1 << 3, address + offset, 0xEEEE_EEEE)):
        is_found(memory, address, at)
    with planted(memory, at - 16, struct.pack("=QQII", id(str), 1 << 3, address + offset, 0xEEEE_EEEE)):
        assert memory.found([(address, address + 401)], SLOW) == [-1]


@pytest.mark.parametrize("byte", range(1, 8))
def test_a_number_is_not_taken_for_the_inside_of_a_block_of_a_low_heap(memory: Memory, byte: int) -> None:
    address = HEAPS[2] + 0xB1230
    for inside in (0x44, 0xD0, 0x100):
        with planted(memory, 4096, bytes(byte) + struct.pack("=QQ", address + inside, 0)):
            assert memory.found([(address, address + 401)], SLOW) == [-1]
    with planted(memory, 4096, bytes(byte) + struct.pack("=QQ", address, 0)):
        is_found(memory, address, 4096)


@pytest.mark.parametrize("address", [0x2C9E7A0, 0x959440])
@pytest.mark.parametrize("text", [b" 0x%x\n", b"<at %x>", b"%016x,"])
def test_a_text_of_few_digits_is_found(memory: Memory, address: int, text: bytes) -> None:
    block = [(address, address + 33)]
    for byte in range(8):
        with planted(memory, 8192 + byte, text % address):
            assert all(memory.found(block, way) != [-1] for way in (FASTEST, PORTABLE, SLOW)), byte
        with planted(memory, 8192 + byte, b" 7%x " % address):
            assert memory.found(block, SLOW) == [-1]


def is_found_everywhere(memory: Memory, kept: Callable[[int], bytes], byte: int, offset: int = 0) -> None:
    """What is kept of many addresses, each at a spot of its own, tells all of them."""
    for some in batches():
        addresses = [HEAPS[1] + 0x1230 + 0x1000 * i for i in range(len(some))]
        for spot, address in zip(some, addresses, strict=True):
            content = kept(address + offset)
            memory.map[spot + byte : spot + byte + len(content)] = content
        blocks = [(address, address + 401) for address in addresses]
        found = [memory.found(blocks, way) for way in (FASTEST, PORTABLE, SLOW)]
        for spot in some:
            memory.map[spot : spot + 16] = b"\xee" * 16
        assert [[word // 8 * 8 for word in one] for one in found] == [some] * 3


def batches() -> Iterator[list[int]]:
    """Spots that do not overlap, as many as there is room for."""
    for every in (spots()[::2], spots()[1::2]):
        for first in range(0, len(every), 64):
            yield every[first : first + 64]


@pytest.mark.parametrize("form", ["inverted", "swapped", "up 3", "digits", "tagged"])
def test_a_form_is_found_wherever_it_stands(memory: Memory, form: str) -> None:
    is_found_everywhere(memory, lambda a: struct.pack("=Q", ALIGNED[form](a)), 0)


@pytest.mark.quick
@pytest.mark.parametrize("byte", range(8))
def test_a_pointer_is_found_at_every_byte_and_as_text(memory: Memory, byte: int) -> None:
    is_found_everywhere(memory, lambda a: f"{a:08x}"[-8:].encode(), byte)
    if byte:
        is_found_everywhere(memory, lambda a: struct.pack("=Q", a), byte, offset=24)


def test_the_last_word_of_memory_counts(memory: Memory) -> None:
    address = HEAPS[0] + 0xB1230
    with planted(memory, BYTES - 8, struct.pack("=Q", ~address & WORD)):
        for way in (FASTEST, PORTABLE, SLOW):
            assert memory.found([(address, address + 401)], way) == [BYTES - 8]


@pytest.mark.parametrize("seed", range(12))
def test_the_quick_ways_tell_what_the_slow_one_does(memory: Memory, seed: int) -> None:
    chance = random.Random(seed)
    heaps = chance.sample(HEAPS, chance.randint(1, 3))
    starts = sorted({chance.choice(heaps) + chance.randrange(1 << 16) * 16 for _ in range(64)})
    ends = [*starts[1:], starts[-1] + 4096]
    blocks = [(a, min(a + chance.choice((17, 400, 70000)), b)) for a, b in zip(starts, ends, strict=True)]
    memory.map[:] = chance.randbytes(BYTES) if seed % 2 else b"\xee" * BYTES
    for start, stop in blocks[::2]:
        form = chance.choice(list(ALIGNED))
        inside = chance.randrange(stop - start) if form in INSIDE else 0
        words = [ALIGNED[form](start + inside), start + inside]
        struct.pack_into("=Q", memory.map, chance.randrange(BYTES // 8) * 8, words[0])
        struct.pack_into("=Q", memory.map, chance.randrange(BYTES - 8), words[1])
        memory.map[(at := chance.randrange(BYTES - 14)) : at + 14] = f"{start:#014x}".encode()
    slow = memory.found(blocks, SLOW)
    assert memory.found(blocks, FASTEST) == slow == memory.found(blocks, PORTABLE)
    assert sum(one >= 0 for one in slow) >= len(blocks[::2]) * 3 // 4
    memory.map[:] = b"\xee" * BYTES


@pytest.mark.parametrize("way", [FASTEST, PORTABLE, SLOW])
def test_what_stands_beside_memory_that_is_gone_is_found(way: int) -> None:
    memory, address = Memory(64 * PAGE), HEAPS[0] + 0xB1230
    libc = ctypes.CDLL(None)
    for page in (7, 8, 20):
        assert libc.mprotect(ctypes.c_void_p(memory.start + page * PAGE), PAGE, 0) == 0
    for offset in (7 * PAGE - 8, 9 * PAGE, 20 * PAGE - 8, 21 * PAGE, 22 * PAGE - 8, 64 * PAGE - 8):
        with planted(memory, offset, struct.pack("=Q", ~address & WORD)):
            assert memory.found([(address, address + 401)], way) == [offset]
    assert libc.mprotect(ctypes.c_void_p(memory.start), 64 * PAGE, 3) == 0


def test_more_blocks_than_there_is_room_for_are_refused(memory: Memory) -> None:
    blocks = [(HEAPS[0] + 64 * i, HEAPS[0] + 64 * i + 40) for i in range(65)]
    with pytest.raises(ValueError, match="64 at most"):
        memory.found(blocks, FASTEST)
