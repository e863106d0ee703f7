"""Read torch's C++ structs from memory: tensor methods run subclasses' code, and split copy-on-write.

c10::TensorImpl and c10::StorageImpl of torch 2.13 (c10/core/TensorImpl.h, StorageImpl.h) as words of 8 bytes.
They are no public interface: the adapter uses them only after its self test, and each read checks that the
struct begins with a vtable that torch exports under that class's name.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
import struct
from functools import cache

from inspector import _native
from inspector.facts.record import dataclass

TENSOR_WORDS, STORAGE_WORDS = 27, 11
COUNT, HAS_WRAPPER = 0xFFFFFFFF, 1 << 63
"""Bits of an intrusive count (c10/util/intrusive_ptr.h): strong references; has a Python object."""
UNDEFINED = "UndefinedTensor"
VTABLES = {
    "_ZTVN3c1011StorageImplE": "StorageImpl",
    "_ZTVN3c1010TensorImplE": "TensorImpl",
    "_ZTVN2at11QTensorImplE": "QTensorImpl",
    "_ZTVN2at16SparseTensorImplE": "SparseTensorImpl",
    "_ZTVN2at19SparseCsrTensorImplE": "SparseCsrTensorImpl",
    "_ZTVN2at6native16NestedTensorImplE": "NestedTensorImpl",
    "_ZTVN3c1019UndefinedTensorImplE": UNDEFINED,
    "_ZTVN5torch8autograd12AutogradMetaE": "AutogradMeta",
    "_ZTVN5torch8autograd22DifferentiableViewMetaE": "DifferentiableViewMeta",
    "_ZTVN5torch8autograd14AccumulateGradE": "AccumulateGrad",
    "_ZTVN5torch8autograd10CopySlicesE": "CopySlices",
    "_ZTVN2at16CPUGeneratorImplE": "CPUGeneratorImpl",
    "_ZTVN2at24PerTensorAffineQuantizerE": "Quantizer",
    "_ZTVN2at25PerChannelAffineQuantizerE": "Quantizer by channel",
    "_ZTVN2at37PerChannelAffineFloatQParamsQuantizerE": "Quantizer by channel",
}
_GENERATED = re.compile(r"_ZTVN5torch8autograd9generated\d+(\w+)E")
"""Nodes of the built-in functions."""
VTABLE_OFFSET = 16
"""An object points behind the vtable's offset to top and type (Itanium C++ ABI)."""
SPARSE = {"SparseTensorImpl": (24, 25), "SparseCsrTensorImpl": (22, 23, 24)}
"""Class -> words that point to its component tensors."""
COALESCED_WORD = 26
QUANTIZER_WORD = 22
CHANNELS = (3, 4)
"""Words of a quantizer by channel: scales, zero points."""
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
    wrapper: int
    start: int
    deleter: int
    context: int
    bytes: int

    @property
    def is_cow(self) -> bool:
        """Whether the deleter is that of a copy-on-write block."""
        return "cow_deleter" in symbol_at(self.deleter)

    @property
    def cow_holders(self) -> int:
        """Storages that share the copy-on-write block."""
        return words_at(self.context, COW_COUNT_WORD + 1)[COW_COUNT_WORD]

    @property
    def exporter(self) -> int:
        """Address of the Python object that a foreign block came from: captured by the deleter."""
        return words_at(self.context, 2)[1]

    @property
    def lender(self) -> int:
        """Address of what a DLPack tensor's deleter releases (dlpack.h: manager_ctx); 0 if there is none."""
        words = words_at(self.exporter, 7) if self.start else (0,) * 7
        if words[0] & 0xFFFFFFFF == 1 and words[4] == self.start:
            return words[1]
        return words[6] if words[0] == self.start else 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """A c10::TensorImpl and what it points to."""

    address: int
    kind: str
    """C++ class: "TensorImpl", "SparseTensorImpl"."""
    references: int
    wrapper: int
    """Address of its Python object; 0 if it has none. While others refer to the tensor, it refers to that."""
    storage: Storage | None
    autograd: int
    """Address of its AutogradMeta: in a graph, or requires grad, or a view; 0: none."""
    counter: int
    """Address of the version counter, or 0."""
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
    quantizer: int = 0
    """Address of what says how its numbers are read; 0: they are numbers."""

    @property
    def version(self) -> int | None:
        """`_version`; None if it is not counted."""
        return words_at(self.counter, 3)[2] & 0xFFFFFFFF if self.counter else None


def tensor(cdata: int) -> Tensor | None:
    """The TensorImpl at an address; or None."""
    words = words_at(cdata, TENSOR_WORDS)
    kind = class_at(words[0])
    if not kind.endswith("TensorImpl"):
        return None
    ranks = _signed(words[7])
    parts = tuple(filter(None, (tensor(words[i]) for i in SPARSE[kind]))) if kind in SPARSE else ()
    return Tensor(
        address=cdata,
        kind=kind,
        references=words[1] & COUNT,
        wrapper=words[6] if words[1] & HAS_WRAPPER else 0,
        storage=storage(words[2]) if words[2] else None,
        autograd=words[3],
        counter=words[5],
        shape=_sizes(words, ranks, 0),
        strides=_sizes(words, ranks, 1),
        offset=_signed(words[18]),
        elements=_signed(words[19]),
        dtype=words[20] & 0xFFFF,
        device=words[20] >> 16 & 0xFF,
        parts=parts,
        coalesced=bool(words[COALESCED_WORD] & 0xFF),
        quantizer=words[QUANTIZER_WORD] if kind == "QTensorImpl" else 0,
    )


def quantizer(address: int) -> tuple[int, tuple[int, ...]] | None:
    """(references, its tensors) of the quantizer at an address; None if it is of an unknown class."""
    words = words_at(address, max(CHANNELS) + 1)
    kind = class_at(words[0])
    if not kind.startswith("Quantizer"):
        return None
    return words[1] & COUNT, tuple(words[at] for at in CHANNELS if kind.endswith("channel"))


def only_storage(cdata: int) -> Storage | None:
    """The storage of a dense tensor, read without the rest of it; None for any other tensor."""
    words = words_at(cdata, 21)
    is_dense = class_at(words[0]) == "TensorImpl" and words[20] >> 16 & 0xFF != META
    return storage(words[2]) if is_dense and words[2] else None


def storage(address: int) -> Storage | None:
    """The StorageImpl at an address; or None."""
    words = words_at(address, STORAGE_WORDS)
    if class_at(words[0]) != "StorageImpl":
        return None
    wrapper = words[10] if words[1] & HAS_WRAPPER else 0
    return Storage(address, words[1] & COUNT, wrapper, words[2], words[3], words[4], words[6])


def class_of(address: int) -> str:
    """C++ class whose vtable the struct begins with; "" for an unknown one."""
    return class_at(words_at(address, 1)[0])


@cache
def class_at(vtable: int) -> str:
    """C++ class of a vtable; "" for an unknown one."""
    symbol, offset = (_native.exported(vtable) if vtable else None) or ("", 0)
    known = VTABLES.get(symbol) or (of[1] if (of := _GENERATED.fullmatch(symbol)) else "")
    return known if offset == VTABLE_OFFSET else ""


@cache
def symbol_at(address: int) -> str:
    """The exported symbol at an address of torch's libraries, which are never unloaded; "" for none."""
    return (_native.exported(address) or ("",))[0]


def _sizes(words: tuple[int, ...], ranks: int, which: int) -> tuple[int, ...]:
    """Sizes (0) or strides (1): inside the struct up to five dimensions, else in one block on the heap."""
    if not 0 < ranks <= MOST_DIMENSIONS:
        return ()
    if ranks <= INLINE_DIMENSIONS:
        first = 8 + which * INLINE_DIMENSIONS
        found = words[first : first + ranks]
    else:
        found = words_at(words[8], 2 * ranks)[which * ranks : which * ranks + ranks]
    return tuple(map(_signed, found)) if max(found) >> 63 else found


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def words_at(address: int, count: int) -> tuple[int, ...]:
    """Words at an address; zeros if not readable."""
    raw = _native.read(address, 8 * count) if address else None
    return _struct(count).unpack(raw) if raw else (0,) * count


@cache
def _struct(count: int) -> struct.Struct:
    return struct.Struct(f"{count}Q")
