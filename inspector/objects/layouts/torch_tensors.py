"""Read torch's C++ structs from memory: tensor methods run subclasses' code, and split copy-on-write.

c10::TensorImpl and c10::StorageImpl of torch 2.13 (c10/core/TensorImpl.h, StorageImpl.h) as words of 8 bytes.
They are no public interface: the adapter uses them only after its self test, and each read checks that the
struct begins with a vtable that torch exports under that class's name.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import struct
from dataclasses import dataclass

from inspector import _native

TENSOR_WORDS, STORAGE_WORDS = 27, 10
VTABLES = {
    "_ZTVN3c1011StorageImplE": "StorageImpl",
    "_ZTVN3c1010TensorImplE": "TensorImpl",
    "_ZTVN2at11QTensorImplE": "QTensorImpl",
    "_ZTVN2at16SparseTensorImplE": "SparseTensorImpl",
    "_ZTVN2at19SparseCsrTensorImplE": "SparseCsrTensorImpl",
    "_ZTVN2at6native16NestedTensorImplE": "NestedTensorImpl",
}
VTABLE_OFFSET = 16
"""An object points behind the vtable's offset to top and type (Itanium C++ ABI)."""
SPARSE = {"SparseTensorImpl": (24, 25), "SparseCsrTensorImpl": (22, 23, 24)}
"""Class -> words that point to its component tensors."""
COALESCED_WORD = 26
INLINE_DIMENSIONS = 5
MOST_DIMENSIONS = 64
COW_COUNT_WORD = 9
CPU, CUDA, META = 0, 1, 14
"""c10::DeviceType."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A c10::StorageImpl: the block of bytes, and what frees it."""

    address: int
    tensors: int
    """Strong references: of tensors, and of a Python storage object."""
    start: int
    deleter: int
    context: int
    bytes: int

    @property
    def is_cow(self) -> bool:
        """Whether the deleter is that of a copy-on-write block."""
        return "cow_deleter" in ((_native.exported(self.deleter) or ("",))[0])

    @property
    def cow_holders(self) -> int:
        """Storages that share the copy-on-write block."""
        return _words(self.context, COW_COUNT_WORD + 1)[COW_COUNT_WORD]

    @property
    def exporter(self) -> int:
        """Address of the Python object that a foreign block came from: captured by the deleter."""
        return _words(self.context, 2)[1]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A c10::TensorImpl and what it points to."""

    kind: str
    """C++ class: "TensorImpl", "SparseTensorImpl"."""
    references: int
    storage: Storage | None
    has_autograd: bool
    version: int | None
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Strides in elements."""
    offset: int
    elements: int
    dtype: int
    """c10::ScalarType."""
    device: int
    parts: tuple[Tensor, ...]
    """Indices and values of a sparse tensor."""
    coalesced: bool


def tensor(cdata: int) -> Tensor | None:
    """The TensorImpl at an address; or None."""
    kind = class_of(cdata)
    raw = _native.read(cdata, 8 * TENSOR_WORDS) if kind.endswith("TensorImpl") else None
    if raw is None:
        return None
    words = struct.unpack(f"{TENSOR_WORDS}Q", raw)
    ranks = _signed(words[7])
    parts = tuple(filter(None, (tensor(words[i]) for i in SPARSE.get(kind, ()))))
    return Tensor(
        kind=kind,
        references=words[1] & 0xFFFFFFFF,
        storage=storage(words[2]) if words[2] else None,
        has_autograd=bool(words[3]),
        version=_words(words[5], 3)[2] & 0xFFFFFFFF if words[5] else None,
        shape=_sizes(words, ranks, 0),
        strides=_sizes(words, ranks, 1),
        offset=_signed(words[18]),
        elements=_signed(words[19]),
        dtype=words[20] & 0xFFFF,
        device=words[20] >> 16 & 0xFF,
        parts=parts,
        coalesced=bool(words[COALESCED_WORD] & 0xFF),
    )


def storage(address: int) -> Storage | None:
    """The StorageImpl at an address; or None."""
    if class_of(address) != "StorageImpl":
        return None
    words = _words(address, STORAGE_WORDS)
    return Storage(address, words[1] & 0xFFFFFFFF, words[2], words[3], words[4], words[6])


def class_of(address: int) -> str:
    """C++ class whose vtable the struct begins with; "" for an unknown one."""
    (vtable,) = _words(address, 1)
    symbol, offset = _native.exported(vtable) or ("", 0) if vtable else ("", 0)
    return VTABLES.get(symbol, "") if offset == VTABLE_OFFSET else ""


def _sizes(words: tuple[int, ...], ranks: int, which: int) -> tuple[int, ...]:
    """Sizes (0) or strides (1): inside the struct up to five dimensions, else in one block on the heap."""
    if not 0 < ranks <= MOST_DIMENSIONS:
        return ()
    if ranks <= INLINE_DIMENSIONS:
        first = 8 + which * INLINE_DIMENSIONS
        return tuple(map(_signed, words[first : first + ranks]))
    return tuple(map(_signed, _words(words[8], 2 * ranks)[which * ranks : which * ranks + ranks]))


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _words(address: int, count: int) -> tuple[int, ...]:
    """Words at an address; zeros if not readable."""
    raw = _native.read(address, 8 * count) if address else None
    return struct.unpack(f"{count}Q", raw) if raw else (0,) * count
