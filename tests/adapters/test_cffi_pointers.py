"""cffi: owned, borrowed, lent and released memory, told by exact type and struct."""

# SPDX-License-Identifier: MIT
import gc
import struct

import cffi
import pytest
from asking import Tell, adapter

from inspector import _native
from inspector.adapters.told import Told

pytestmark = pytest.mark.libraries
ffi = cffi.FFI()
ffi.cdef("struct pair { int a; double b; };")


def slugs(answer: Told) -> list[str]:
    return [found.slug for found in answer.findings]


def test_new_owns_its_bytes(told: Tell) -> None:
    x = ffi.new("int[4]", [1, 2, 3, 4])
    (block,) = adapter(x).elements(x)
    assert (block.shape, block.format, block.address) == ((4,), "int32", int(ffi.cast("uintptr_t", x)))
    raw = _native.read(block.address, 16)
    assert raw is not None and struct.unpack("4i", raw) == (1, 2, 3, 4)
    assert adapter(x).owns(x) is True and told(x).findings == ()


@pytest.mark.parametrize("borrow", ["ffi.cast('int *', x)", "x + 1", "x[1:3]", "ffi.addressof(x, 2)"])
def test_an_address_alone_is_borrowed(told: Tell, borrow: str) -> None:
    x = ffi.new("int[4]")
    y = eval(borrow, {"ffi": ffi, "x": x})
    answer = told(y)
    assert answer.layers[0].title == "borrowed" and slugs(answer) == ["borrowed-pointer"]
    assert adapter(y).owns(y) is False and adapter(y).holds(y) == ()
    low, high = int(ffi.cast("uintptr_t", x)), int(ffi.cast("uintptr_t", x)) + 16
    assert all(low <= span.start < span.stop <= high for span in adapter(y).spans(y))


def test_null_and_numbers_are_no_danger(told: Tell) -> None:
    assert slugs(told(ffi.NULL)) == [] and adapter(ffi.NULL).elements(ffi.NULL) == ()
    number = ffi.cast("int", 5)
    assert slugs(told(number)) == [] and told(number).layers[0].storage == "inline"


def test_a_struct_behind_a_pointer(told: Tell) -> None:
    pair = ffi.new("struct pair *", (1, 2.5))
    ((relation, held),) = adapter(pair).holds(pair)
    assert relation == "owns" and held == pair[0]
    (block,) = adapter(pair).elements(pair)
    assert [(m.name, m.offset_bytes) for m in block.members] == [("a", 0), ("b", 8)]
    inner = pair[0]
    del pair
    gc.collect()
    assert adapter(inner).owns(inner) is True and inner.b == 2.5, "it keeps the memory itself"
    told(inner)


def test_from_buffer_holds_its_exporter_until_released(told: Tell) -> None:
    lender = bytearray(16)
    x = ffi.from_buffer("int[]", lender)
    assert adapter(x).holds(x) == (("from_buffer", lender),) and adapter(x).owns(x) is False
    assert adapter(x).elements(x)[0].shape == (4,)
    assert _native.exports(lender) == 1 and slugs(told(x)) == []
    assert _native.exports(lender) == 1
    ffi.release(x)
    answer = told(x)
    assert answer.layers[0].value == "closed" and slugs(answer) == ["freed-storage"]
    assert adapter(x).elements(x) == () and _native.exports(lender) == 0


def test_gc_keeps_its_origin(told: Tell) -> None:
    origin = ffi.new("int[4]")
    x = ffi.gc(origin, lambda _: None)
    assert adapter(x).holds(x) == (("gc", origin),) and adapter(x).owns(x) is True
    ffi.release(x)
    assert told(x).layers[0].value == "closed"


def test_gc_of_an_array_whose_type_has_no_length_is_as_long_as_its_origin() -> None:
    """The struct has the word of a length, which nobody writes: what stood there before was believed."""
    made = ffi.new("double[]", 5)
    x = ffi.gc(ffi.gc(made, lambda _: None), lambda _: None)
    assert adapter(x).elements(x)[0].range == adapter(made).elements(made)[0].range
    assert adapter(x).elements(x)[0].shape == (5,)


def test_handles_and_callbacks_have_no_bytes(told: Tell) -> None:
    for x in (ffi.new_handle([]), ffi.callback("int(int)")(abs)):
        assert adapter(x).elements(x) == () and adapter(x).owns(x) is True
        assert told(x).layers[0].storage == "none"


def test_a_buffer_keeps_what_it_is_over(told: Tell) -> None:
    x = ffi.new("int[4]")
    y = ffi.buffer(x)
    assert adapter(y).holds(y) == (("keeps", x),)
    assert adapter(y).elements(y)[0].range == adapter(x).elements(x)[0].range
    told(y)


@pytest.mark.parametrize(
    ("ctype", "name"),
    [("char", "uint8"), ("unsigned long", "uint64"), ("int8_t", "int8"), ("_Bool", "bool"),
     ("float", "float32"),      ("size_t", "uint64"), ("void *", "void *"), ("wchar_t", "wchar_t")],
)  # fmt: skip
def test_the_words_for_numbers(ctype: str, name: str) -> None:
    x = ffi.new(f"{ctype}[2]")
    assert adapter(x).elements(x)[0].format == name
