"""The blocks of a value that a statement has, read without running the user's code."""

# SPDX-License-Identifier: MIT
import io
import pickle
import struct
from _ctypes import _Pointer
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Elements
from inspector.adapters.formats import letter
from inspector.adapters.registry import adapter_of
from inspector.facts.memory import Range
from inspector.facts.statements import COMING, OBJECTS
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_bases, type_module, type_name, type_namespace
from inspector.objects.sharing.meetings import Blocks, blocks_in, every_block, total_of

OFFSETS: Final = "offsets"
"""The format of blocks that say where values stand."""
MOST_ITEMS: Final = 64
MOST_BOUND: Final = 1024
"""Items of a list that a statement bound; of one that it names MOST_ITEMS are looked at, in each pass."""
RANGES: Final = 8
CHUNKS, CHUNK_BYTES = 4, 256
DICTS: Final = (dict, OrderedDict, defaultdict)
HOLDERS: Final = (list, tuple, *DICTS)
"""Types whose items are looked at; of no subclass, whose code would run."""
_SIMPLE: Final = (int, float, complex, bool, str, type(None), type, range, slice)
"""Types whose objects have no elements that a statement could copy."""
_KEEP: Final = (io.BytesIO, pickle.PickleBuffer)
_WORD: Final = 8
_VIEW: Final = 2 * _WORD
"""Offset of the Py_buffer in a PickleBuffer (Objects/picklebufobject.c)."""


def elements_of(value: Any, most: int = MOST_ITEMS) -> Blocks:
    """The blocks of a value, or of the items of a list, tuple or dict of at most so many; () where none are
    known."""
    if _native.exactly(value, *_SIMPLE) or any(base is _Pointer for base in type_bases(type(value))):
        return ()
    if _native.exactly(value, *HOLDERS) or _is_named(value):
        items = value.values() if _native.exactly(value, *DICTS) else _items(value)
        held = list(items) if len(value) <= most else ()
        plain = (one for one in held if not _native.exactly(one, *HOLDERS))
        return tuple(block for one in plain for block in elements_of(one))
    blocks = _kept(value) if _native.exactly(value, *_KEEP) else blocks_in(_native.Subject(value))
    return () if isinstance(blocks, Unknown) else _roles(value, blocks)


def is_boxed(value: Any) -> bool:
    """Whether its elements are Python objects that nothing reads, as those of a matrix in lists are."""
    adapter = adapter_of(type(value)) if not _native.exactly(value, *_SIMPLE) else None
    return adapter is not None and adapter.boxed(value)


def unread(value: Any) -> Unknown | None:
    """Why nothing says what elements it has: they are Python objects, or JAX still computes them."""
    if is_boxed(value):
        return OBJECTS
    adapter = adapter_of(type(value)) if type_module(type(value)).startswith("jaxlib") else None
    return COMING if adapter is not None and adapter.unseen(value) else None


def keeps_unseen(value: Any) -> bool:
    """Whether an object keeps memory that nothing but the object can say the place of."""
    adapter = adapter_of(type(value))
    return _native.speaks_buffer(type(value)) if adapter is None else adapter.unseen(value)


def _kept(value: Any) -> Blocks | Unknown:
    """What a BytesIO holds now, or a buffer of pickle's shows: read from its C struct."""
    if type(value) is io.BytesIO:
        return every_block(_native.Subject(value))
    raw = _native.read(id(value) + _VIEW, 3 * _WORD)  # Py_buffer begins with buf, obj, len
    address, held, size = struct.unpack("3q", raw) if raw else (0, 0, 0)
    kind = type_name(type(value))
    found = (Elements("buffer", address, (size,), (1,), 1, "uint8", "B", True, kind),)
    return found if held and size > 0 else ()


def _roles(value: Any, blocks: Blocks) -> Blocks:
    """The blocks; those that say where values stand, and are none themselves, as offsets."""
    adapter = adapter_of(type(value))
    placing = adapter.placing(value) if adapter is not None else ()
    return tuple(replace(one, format=OFFSETS) if one in placing else one for one in blocks)


def _items(value: Any) -> Iterator[Any]:
    return iter(value) if type(value) is list else tuple.__iter__(value)


def _is_named(value: Any) -> bool:
    """Whether it is a namedtuple, as `numpy.linalg.svd` gives one: its items are read without its code."""
    bases = type_bases(type(value)) if issubclass(type(value), tuple) else ()
    return next((base for base in bases if "__len__" in type_namespace(base)), None) is tuple


def kind_of(block: Elements) -> str:
    """The letter of numbers; "" where there is none."""
    if block.format in ("bool", "?", "bits"):
        return "truths"
    return "bytes" if block.itemsize_bytes == 1 else letter(block.typestr)


def bytes_of(blocks: Blocks) -> int:
    """Bytes of the elements of all blocks."""
    return sum(block.size * block.itemsize_bytes for block in blocks)


def covered(blocks: Blocks) -> int:
    """Bytes from where each block begins to where it ends; those that several have count once."""
    size, end = 0, 0
    for start, stop in sorted((block.range.start, block.range.stop) for block in blocks):
        size, end = size + max(stop - max(start, end), 0), max(stop, end)
    return size


def described(value: Any, blocks: Blocks) -> str:
    """ "ndarray float64 (334, 500)"; the type alone of several blocks."""
    name = type_name(type(value)).rpartition(".")[2]
    single = len(blocks) == 1 and not _native.exactly(value, *HOLDERS)
    return f"{name} {blocks[0].format} {blocks[0].shape}" if single else name


def size_of(value: Any, blocks: Blocks) -> int | Unknown:
    """Bytes of all its elements."""
    if not _native.exactly(value, *HOLDERS) and total_of(_native.Subject(value), blocks) > len(blocks):
        return Unknown("some of its blocks have no known address")
    return bytes_of(blocks)


def ranges_of(blocks: Blocks) -> tuple[Range, ...]:
    """Where the first blocks lie."""
    return tuple(Range(Address(b.range.start), Address(b.range.stop)) for b in blocks[:RANGES])


def sampled(blocks: Blocks) -> int:
    """A hash of bytes spread over the first blocks of numbers; 0 where they are not in memory."""
    found = [_sampled(one) for one in blocks[:RANGES] if one.range.bytes and one.numeric]
    return 0 if None in found or not found else hash(tuple(found))


def _sampled(block: Elements) -> bytes | None:
    start, size = block.range.start, block.range.bytes
    last = max(size - CHUNK_BYTES, 0)
    places = {start + last * n // (CHUNKS - 1) for n in range(CHUNKS)}
    return _native.read_present(sorted(places), min(CHUNK_BYTES, size))
