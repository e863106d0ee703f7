"""Bytes of malloc's blocks, read without asking malloc about what is none."""

# SPDX-License-Identifier: MIT
import ctypes

import pytest

from inspector.objects.layouts.shared_pointers import block_bytes

pytestmark = pytest.mark.core
C = ctypes.CDLL(None)
C.malloc.restype = C.malloc_usable_size.restype = ctypes.c_size_t
C.malloc_usable_size.argtypes = C.free.argtypes = [ctypes.c_void_p]


def test_blocks_of_all_sizes_are_as_malloc_says() -> None:
    sizes = (*range(1, 400, 7), 5_000, 100_000, 3_000_000)
    blocks = [C.malloc(size) for size in sizes]
    found = [block_bytes(block) for block in blocks]
    assert found == [C.malloc_usable_size(block) for block in blocks]
    assert all(said >= size for said, size in zip(found, sizes, strict=True))
    for block in blocks:
        C.free(block)


@pytest.mark.parametrize("before", [0, 8, 0x7F00_0000_0000, 0x4141_4141_4141_4141])
def test_the_middle_of_a_block_is_none(before: int) -> None:
    """malloc_usable_size would go where the word before leads, and end the process."""
    room = ctypes.create_string_buffer(4096)
    middle = (ctypes.addressof(room) + 64) & ~15
    ctypes.c_uint64.from_address(middle - 8).value = before
    assert block_bytes(middle) == block_bytes(middle + 8) == 0


def test_what_is_not_mapped_is_none() -> None:
    assert block_bytes(64) == block_bytes(1 << 60) == 0
