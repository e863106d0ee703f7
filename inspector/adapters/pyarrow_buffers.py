"""pyarrow: arrays, tables and buffers, and who frees a buffer's bytes, which pyarrow itself does not tell.

A Buffer is a C++ object behind a shared pointer. The class of that object tells who frees the bytes: Arrow's
pool, a NumPy array, another Python object, a mapped file. The self test makes one of each and stores the
address of its class's virtual table and the offset of the Python owner, to recognize both later.
"""

# SPDX-License-Identifier: MIT
import ctypes
import functools
import importlib.util
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from inspector import _native
from inspector.adapters.base import Adapter, Column, Elements, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.holders import MOST_HELD, MOST_LAYERS, is_array
from inspector.adapters.pyarrow_rows import TABLES, arrays_of, arrow_type, buffers_of, first_columns, width_of
from inspector.adapters.told import DERIVED, Finding, Layer, Told, attribute, field, finding, of_type
from inspector.facts.amounts import with_article
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown
from inspector.objects.layouts.overlap import merged
from inspector.objects.layouts.shared_pointers import words_at

_POINTER_AT = object.__basicsize__ + 16
"""Offset of the shared pointer in pyarrow.lib.Buffer: after header, weakref list and Cython's table."""
_WORDS = 16
"""Words of the C++ object that are read: the largest class keeps its owner in the twelfth."""
_FILES = ("MemoryMappedFile", "OSFile", "BufferReader", "BufferOutputStream")
MOST_CHUNKS = 64
"""Most chunks of a table's column whose bytes are summed; with more, the sum is unknown."""
IN_CPP = Unknown("Arrow counts the owners of a buffer in C++")


class Kind(NamedTuple):
    """A C++ class of buffers."""

    name: str
    title: str
    owner_word: int
    """Offset of the Python owner's address in it; 0 if there is none."""


UNSEEN = Kind("a class of buffer the self test did not make", "", 0)


class PyarrowBuffers(Adapter):
    """pyarrow's own exact types; user extension arrays are not inspected."""

    library = "pyarrow"
    versions = ("17", "27")
    links_allocator = True
    fixed = ("ChunkedArray",)

    def __init__(self) -> None:
        self._kinds: dict[int, Kind] = {}
        self._knows_numpy = False

    def types(self) -> tuple[type, ...]:
        """Array classes, ChunkedArray, RecordBatch, Table, Buffer, the reader, files."""
        lib = sys.modules["pyarrow"].lib
        names = ("ChunkedArray", *TABLES, "Buffer", "ResizableBuffer", "RecordBatchReader", *_FILES)
        arrays = (
            kind for kind in vars(lib).values() if isinstance(kind, type) and issubclass(kind, lib.Array)
        )
        return (*arrays, *(getattr(lib, name) for name in names))

    def self_test(self) -> None:
        """Make a buffer of each class: address and size in its C++ object match its attributes.

        pyarrow.array imports pandas. So none is made from values, and NumPy's class is learned when needed.
        """
        arrow, source = sys.modules["pyarrow"], bytearray(64)
        pool = arrow.allocate_buffer(8)
        there = arrow.foreign_buffer(pool.address, pool.size, source)
        self._learn(pool, "PoolBuffer", "owned")
        self._learn(arrow.py_buffer(source), "PyBuffer", "foreign", source)
        self._learn(there, "PyForeignBuffer", "foreign", source)
        array = arrow.Array.from_buffers(arrow.int8(), 8, [None, pool])
        imported = arrow.Array._import_from_c_capsule(*array.__arrow_c_array__())
        self._learn(imported.buffers()[1], "ImportedBuffer", "foreign")
        with arrow.memory_map(__file__) as file:
            self._learn(_root(file.read_buffer(8)), "MemoryMap::Region", "owned")

    def _known(self, table: int) -> Kind:
        """The class with that virtual table."""
        if table not in self._kinds and not self._knows_numpy and _may_call_array():
            array = sys.modules["numpy"].zeros(8, "f8")
            self._learn(sys.modules["pyarrow"].array(array).buffers()[1], "NumPyBuffer", "foreign", array)
            self._knows_numpy = True
        return self._kinds.get(table, UNSEEN)

    def _learn(self, buffer: Any, name: str, title: str, owner: Any = None) -> None:
        words = _object_of(buffer)
        if words[2:4] != (buffer.address, buffer.size):
            raise ValueError("arrow::Buffer does not lie as in arrow/buffer.h")
        self._kinds[words[0]] = Kind(name, title, words.index(id(owner)) if owner is not None else 0)

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """A block for each buffer; number values begin at the slice's offset."""
        rows = (row for row in buffers_of(x) if row[1].is_cpu)
        own = (replace(block, linked=self.is_linked(buffer)) for _, buffer, block in rows)
        return (*own, *(block for _, array in arrays_of(x) for block in _of_dictionary(array)))

    def is_linked(self, buffer: Any) -> bool:
        """Whether Arrow's pool allocated a buffer's bytes, or may have (unknown class)."""
        return self._title(buffer) in ("owned", "")

    def spans(self, x: Any) -> tuple[Range, ...]:
        """The ranges of the blocks that have bytes."""
        return tuple(block.range for block in self.elements(x) if block.range.bytes)

    def roots(self, x: Any) -> tuple[Range, ...]:
        """The buffers that its buffers are slices of."""
        return _roots(buffers_of(x))

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """Python objects that own the bytes of its buffers."""
        found = ((place, self.owner(buffer)) for place, buffer, _ in buffers_of(x))
        return tuple((place, owner) for place, owner in found if owner is not None)

    def owner(self, buffer: Any) -> Any:
        """The Python object that keeps a buffer's bytes alive, if its class keeps one."""
        root = _root(buffer)
        kind, words = self._kind(root)
        return ctypes.cast(words[kind.owner_word], ctypes.py_object).value if kind.owner_word else None

    def beyond(self, x: Any, found: Beyond) -> None:
        """Its arrays and buffers in C++, and the Python objects that those refer to."""
        from inspector.adapters import pyarrow_beyond

        pyarrow_beyond.add(x, found, self.owner_at)

    def owner_at(self, address: int) -> int:
        """Address of the Python object that a buffer in C++ refers to; 0 for none."""
        words = words_at(address, _WORDS)
        word = self._known(words[0]).owner_word if words else 0
        return words[word] if word else 0

    def _title(self, buffer: Any) -> str:
        """Who frees a buffer's bytes; "" if its class is unknown, "borrowed" if it holds None."""
        kind, words = self._kind(_root(buffer))
        return "borrowed" if kind.owner_word and words[kind.owner_word] == id(None) else kind.title

    def _kind(self, buffer: Any) -> tuple[Kind, tuple[int, ...]]:
        words = _object_of(buffer)
        fits = words[2:4] == (buffer.address, buffer.size)
        return self._known(words[0]) if fits else UNSEEN, words

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Columns of a table, chunks of a chunked array."""
        if type_name(type(x)) in TABLES:
            for position in range(x.num_columns):
                one = x.select([position])
                yield one.schema.field(0).name, one.column(0)
        elif type_name(type(x)) == "ChunkedArray":
            yield from ((f"chunk {n}", x.chunk(n)) for n in range(x.num_chunks))

    def columns(self, x: Any, most: int) -> tuple[tuple[Column, ...], int, int] | None:
        """The first columns; each is a block of its own, whose bytes are those of its buffers."""
        if type_name(type(x)) not in TABLES:
            return None
        total, few = x.num_columns, first_columns(x, most)
        schema = few.schema
        found = (self._column(schema.field(n), few.column(n), n) for n in range(few.num_columns))
        return tuple(found), total, total

    def _column(self, field: Any, values: Any, position: int) -> Column:
        from inspector.adapters.holders import owner_address

        rows = tuple(buffers_of(values)) if width_of(values) <= MOST_CHUNKS else ()
        owners = (self.owner(buffer) for _, buffer, _ in rows)
        address = next((owner_address(one) or id(one) for one in owners if one is not None), 0)
        blocks = tuple(block for _, buffer, block in rows if buffer.is_cpu)
        return Column(field.name, arrow_type(field), blocks, position, IN_CPP, address)

    def owns(self, x: Any) -> bool | Unknown:
        """Whether Arrow's pool frees all its bytes: buffers are counted in C++, and others may share them."""
        kinds = {self._title(buffer) for _, buffer, _ in buffers_of(x)}
        return Unknown(UNSEEN.name) if "" in kinds else kinds <= {"owned"}

    def layers(self, x: Any) -> Told:
        """The object, then each buffer with the class of its C++ object."""
        kind = type_name(type(x))
        if kind == "RecordBatchReader":
            return _reader()
        if kind in _FILES:
            return _file(x, kind)
        found = list(buffers_of(x))
        below = tuple(self._layer(*row) for row in found[: MOST_LAYERS - 1])
        wrapper = Layer("wrapper", _title(x), title=self._whole(found), would_not=("slice", "repr"))
        wide = Unknown(f"{width_of(x):,} columns are not summed")
        logical = x.size if kind.endswith("Buffer") else wide if width_of(x) > MOST_HELD else _logical(x)
        roots = [(int(one.start), int(one.stop)) for one in _roots(found)]
        return Told(
            (wrapper, *below),
            DERIVED,
            logical,
            wide if width_of(x) > MOST_HELD else sum(stop - start for start, stop in merged(roots)),
            findings=tuple(self._dangers(found)),
            layers_left_out=max(0, len(found) - len(below)),
        )

    def _dangers(self, found: Iterable[tuple[str, Any, Elements]]) -> Iterator[Finding]:
        """A NumPy array whose bytes this array shows can still be written: others refer to it too."""
        from inspector.adapters.numpy_arrays import ADAPTER as NUMPY

        held: dict[int, set[int]] = {}
        boxes: dict[int, _native.Subject] = {}  # one each: a second one would count as a holder
        for _, buffer, _ in found:
            box = _native.Subject(self.owner(buffer))
            boxes[box.address] = box
            held.setdefault(box.address, set()).add(_root(buffer).address)
        arrays = (box for at, box in boxes.items() if (box.refcount() or 0) > len(held[at]))
        arrays = (box for box in arrays if is_array(box.get()))
        if any(not block.readonly for box in arrays for block in NUMPY.elements(box.get())):
            what = "a write to the ndarray changes this array, which pyarrow assumes to be immutable"
            yield finding("unnoticed-write", what, do="pa.array(x.copy()), or x.flags.writeable = False")

    def _whole(self, found: list[tuple[str, Any, Elements]]) -> Any:
        titles = {self._title(buffer) for _, buffer, _ in found}
        if "" in titles:
            return Unknown(UNSEEN.name)
        return next((title for title in ("borrowed", "foreign") if title in titles), "owned")

    def _layer(self, place: str, buffer: Any, block: Elements) -> Layer:
        root = _root(buffer)
        kind, owner = self._kind(root)[0], self.owner(buffer)
        held = f" over {with_article(type_name(type(owner)))}" if owner is not None else " over unowned bytes"
        held = held if kind.owner_word else ""
        title: Any = self._title(buffer) or Unknown(UNSEEN.name)
        return Layer(
            "buffer",
            f"{place} {block.format} {block.shape}",
            storage="heap" if buffer.is_cpu else "device",
            title="view" if root is not buffer and title == "owned" else title,
            evidence=(
                field("C++ class", kind.name + held),
                attribute("is_mutable", buffer.is_mutable),
                *((attribute("parent", f"{root.size:,} B"),) if root is not buffer else ()),
            ),
            spans=(block.range,) if buffer.is_cpu and block.range.bytes else (),
            depth=1,
        )


def _file(x: Any, kind: str) -> Told:
    said = (attribute("x.closed", x.closed),)
    if x.closed:
        return Told((Layer("wrapper", kind, "closed", "none", evidence=said),))
    where = Unknown("the place of a file's bytes is not read")
    return Told((Layer("wrapper", kind, "computed", where, evidence=said),))


def _reader() -> Told:
    why = Unknown("pyarrow does not show whether batches are left: reading one takes it")
    said = of_type("RecordBatchReader")
    use = ("read_next_batch()", "read_all()")
    return Told(
        (Layer("wrapper", "RecordBatchReader", why, why, why, (said,), use, ("x.schema", "repr")),), why
    )


def _of_dictionary(array: Any) -> tuple[Elements, ...]:
    """The dictionary's blocks, by the C interface: `array.dictionary` would be cached in the array."""
    from inspector.adapters.arrow_blocks import dictionary

    if type_name(type(array)) != "DictionaryArray":
        return ()
    schema, values = array.__arrow_c_array__()
    return dictionary(schema, values, "DictionaryArray")


def _object_of(buffer: Any) -> tuple[int, ...]:
    """The first words of the C++ object behind a Buffer; zeros if they cannot be read."""
    pointer = _native.read(id(buffer) + _POINTER_AT, 8)
    raw = _native.read(int.from_bytes(pointer or b"", "little"), 8 * _WORDS) if pointer else None
    return struct.unpack(f"={_WORDS}Q", raw or bytes(8 * _WORDS))


def _may_call_array() -> bool:
    """Whether pyarrow.array has no pandas to import: whoever made a buffer over an ndarray has called it.

    While it imports pandas, it must not be called again: it waits for itself.
    """
    pandas = sys.modules.get("pandas")
    is_ready = pandas is not None and not getattr(pandas.__spec__, "_initializing", False)
    return "numpy" in sys.modules and (is_ready or (pandas is None and not _is_installed("pandas")))


_is_installed = functools.cache(importlib.util.find_spec)


def _root(buffer: Any) -> Any:
    """The buffer that it is a slice of, or itself."""
    for _ in range(MOST_LAYERS):
        parent = buffer.parent
        if parent is None:
            break
        buffer = parent
    return buffer


def _roots(found: Iterable[tuple[str, Any, Elements]]) -> tuple[Range, ...]:
    whole = (_root(buffer) for _, buffer, _ in found if buffer.is_cpu)
    return tuple({Range(one.address, one.address + one.size) for one in whole})


def _logical(x: Any) -> int | Unknown:
    """Bytes of all elements; a table's by its arrays, because `Table.nbytes` would modify the table."""
    try:
        return int(sum(array.nbytes for _, array in arrays_of(x)))
    except sys.modules["pyarrow"].ArrowTypeError as error:  # pyarrow 17, of views of strings
        return Unknown(f"pyarrow raises: {error}"[:100])


def _title(x: Any) -> str:
    kind = type_name(type(x))
    if kind in TABLES:
        return f"{kind} {x.num_rows, x.num_columns}"
    if kind.endswith("Buffer"):
        return f"{kind} {x.size:,} B"
    if kind == "ChunkedArray":
        return f"{kind} of {len(x):,}, {x.num_chunks} chunks"
    return f"{kind} of {len(x):,}{f' at {x.offset}' if x.offset else ''}"


ADAPTER = PyarrowBuffers()
