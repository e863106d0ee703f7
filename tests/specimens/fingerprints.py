"""What a look must leave as it was: an object's struct, counts, exports, `__dict__` and pages.

`fingerprint(x)` copies the bytes of the object's own C struct (that covers the refcount, the weakref
list, buffer exports, ndarray flags and the 72 bytes a memoryview leaves behind) and the words before it
(whether the instance `__dict__` is materialized). It keeps no reference and calls no method of `x`.
"""

# SPDX-License-Identifier: MIT
import ctypes
import mmap
import sys
import types
import weakref
from dataclasses import dataclass

WORD = ctypes.sizeof(ctypes.c_void_p)
HAS_PREHEADER = 1 << 3 | 1 << 4  # Py_TPFLAGS_MANAGED_WEAKREF, Py_TPFLAGS_MANAGED_DICT (Include/object.h)
RESTLESS = (type, types.FrameType, types.GeneratorType, types.CoroutineType, types.FunctionType)
"""Types whose struct CPython itself rewrites as they are used (versions, caches, the frame's pointer)."""


@dataclass(frozen=True)
class Fingerprint:
    """Equal before and after, or the look disturbed its subject."""

    refcount: int
    weakrefs: int
    struct: tuple[str, ...]
    """Words of the struct after ob_refcnt, in hex; empty for a type in RESTLESS."""
    preheader: tuple[str, ...]
    """Managed weakref and dict words (Include/internal/pycore_object.h); empty where there are none."""
    resident_pages: int
    """Pages of an exact ndarray's data that are in memory; 0 for everything else."""


def fingerprint(x: object) -> Fingerprint:
    """The state of `x` that a probe may not change."""
    kind, address = type(x), id(x)
    restless = issubclass(kind, RESTLESS)
    flags = type.__dict__["__flags__"].__get__(kind)
    # a compact str is shorter than its type's basicsize: only PyASCIIObject, the head, is always there
    size = sys.getsizeof("") - 1 if kind is str else type.__dict__["__basicsize__"].__get__(kind)
    return Fingerprint(
        refcount=ctypes.c_ssize_t.from_address(address).value,
        weakrefs=weakref.getweakrefcount(x),
        struct=() if restless else _words(address + WORD, size - WORD),
        preheader=_words(address - 4 * WORD, 2 * WORD) if flags & HAS_PREHEADER else (),
        resident_pages=_resident_pages(x),
    )


def _words(address: int, size: int) -> tuple[str, ...]:
    raw = ctypes.string_at(address, max(size, 0))
    return tuple(raw[i : i + WORD][::-1].hex() for i in range(0, len(raw), WORD))


def _resident_pages(x: object) -> int:
    numpy = sys.modules.get("numpy")
    if numpy is None or type(x) is not numpy.ndarray:
        return 0
    start = x.__array_interface__["data"][0]
    return resident_pages(start, x.nbytes) if x.flags.forc else 0  # type: ignore[attr-defined]


def resident_pages(start: int, size_bytes: int) -> int:
    """Pages of [start, start + size_bytes) that are in memory, by /proc/self/pagemap (bit 63)."""
    first, last = start // mmap.PAGESIZE, (start + size_bytes - 1) // mmap.PAGESIZE
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        pagemap.seek(first * 8)
        entries = memoryview(pagemap.read((last - first + 1) * 8)).cast("Q")
    return sum(entry >> 63 for entry in entries)
