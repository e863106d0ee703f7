"""The object header and own size, against what CPython says by its public ways."""

# SPDX-License-Identifier: MIT
import ctypes
import gc
import sys

import pytest

from inspector._native import Subject, object_layout

pytestmark = [pytest.mark.core, pytest.mark.quick]


class Plain:
    """An instance with a dict."""


class Slotted:
    __slots__ = ("__weakref__", "a")


def _samples():
    return [
        *(1, -(2**70), 10**5000, True, 2.5, 1j, None),
        *("", "a" * 100, "ü", "\u20ac", b"", b"abc", bytearray(b"abcd")),
        *([], [1, 2, 3], (), (1,), {}, {"a": 1}, set(), {1, 2}, frozenset({3})),
        *(Slotted(), Plain, len, sys, _samples, _samples.__code__, slice(1)),
        *(object(), Exception("x"), iter([1]), memoryview(b"abc"), range(3)),
    ]


@pytest.mark.parametrize("position", range(len(_samples())))
def test_size_is_what_getsizeof_says(position):
    sample = _samples()[position]
    assert object_layout(Subject(sample))["size_bytes"] == sys.getsizeof(sample)


def test_size_never_asks_the_user():
    class Lies:
        def __sizeof__(self):
            raise AssertionError("ran")

    assert object_layout(Subject(Lies()))["size_bytes"] >= sys.getsizeof(Plain())


@pytest.mark.parametrize(("offset", "size"), [(4, 3), (4, -64), (4, 1 << 62), (5, -1), (5, 1 << 40)])
def test_a_type_with_wrong_sizes_is_unknown(offset, size):
    class Wrong:
        __slots__ = ()

    wrong = Wrong()
    field = ctypes.c_ssize_t.from_address(id(Wrong) + offset * ctypes.sizeof(ctypes.c_void_p))
    right, field.value = field.value, size
    told = object_layout(Subject(wrong))["size_bytes"]
    field.value = right
    assert told is None
    assert object_layout(Subject(wrong))["size_bytes"] == sys.getsizeof(wrong)


def test_header_fields_hold_what_is_in_memory():
    sample = [1, 2, 3]
    fields = {name: (at, size, value) for name, at, size, value in object_layout(Subject(sample))["header"]}
    assert fields["ob_refcnt"] == (0, 8, "1")
    assert fields["ob_type"] == (8, 8, f"{id(list):#x} list")
    assert fields["ob_size"] == (16, 8, "3")
    assert fields["_gc_next"][0] == -16


def test_gc_tracking_follows_the_gc():
    for sample in ([], (), (1, 2), {}, {"a": []}, Plain(), 1, "x"):
        told = object_layout(Subject(sample))["gc_tracked"]
        assert told in (gc.is_tracked(sample), None)
    untracked = (1, 2)
    gc.collect()
    assert object_layout(Subject(untracked))["gc_tracked"] is False


def test_type_names_come_from_the_struct():
    class Meta(type):
        def __getattribute__(cls, name):
            raise AssertionError(f"ran for {name}")

    class Hidden(metaclass=Meta):
        pass

    row = object_layout(Subject(Hidden()))
    assert row["type_name"] == f"{__name__}.test_type_names_come_from_the_struct.<locals>.Hidden"
    assert row["type_mro"] == (row["type_name"], "object")


def test_a_name_with_terminal_codes_is_written_printable():
    class Loud:
        pass

    Loud.__qualname__ = "\x1b]0;owned\x07" * 50
    name = object_layout(Subject(Loud()))["type_name"]
    assert name.isprintable()
    assert len(name) <= 120


def test_wrong_argument_is_a_type_error():
    with pytest.raises(TypeError, match="Subject"):
        object_layout(3)
