"""What a trace of R counts without looking again: made-up objects of R's in memory of the test's own."""

# SPDX-License-Identifier: MIT
import ctypes
import struct
import sys

import pytest

from inspector.tracing.record import r_compared, r_scalars
from inspector.tracing.record.r_counts import MOST, Counts, counted

TEXTS = ("loop.R", "4", "4", "f(n)")


def sexp(kind: int, element: bytes, attributes: int, length: int = 1, bits: int = 0):
    """A SEXPREC with one element, and its address."""
    words = struct.pack("=7Q", kind | bits, attributes, 0, 0, length, length, 0)
    made = ctypes.create_string_buffer(words[:48] + element.ljust(8, b"\0"), 56)
    return made, ctypes.addressof(made)


@pytest.fixture
def nil(monkeypatch):
    monkeypatch.setattr(r_scalars, "_nil", [])
    made, address = sexp(0, b"", 0)
    yield address
    del made


def kind(value, obj, nil, code, **more):
    held, address = sexp(code, value, more.pop("attributes", nil), **more)
    assert held.raw[48:56].startswith(value)
    return r_scalars.kind_of(1, obj, address, TEXTS)


@pytest.mark.parametrize(
    ("form", "code", "obj"), [("d", 14, 2.5), ("d", 14, float("nan")), ("i", 13, -7), ("i", 10, True)]
)
def test_the_same_number_is_known_again(nil, form, code, obj):
    value = struct.pack(form, obj)
    first = kind(value, obj, nil, code)
    assert first is not None
    assert kind(value, obj, nil, code) == first


@pytest.mark.parametrize(
    ("value", "code", "obj", "more"),
    [
        (struct.pack("d", 2.5), 14, 2.25, {}),  # another value
        (struct.pack("i", -(1 << 31)), 10, True, {}),  # NA
        (struct.pack("i", -(1 << 31)), 13, -(1 << 31), {}),  # NA, to a number of its bits
        (struct.pack("d", 2.0), 14, 2, {}),  # a double and an int
        (struct.pack("d", 2.5), 14, 2.5, {"length": 2}),
        (struct.pack("d", 2.5), 14, 2.5, {"bits": 1 << 7}),  # ALTREP
        (struct.pack("i", 0), 13, 0, {}),  # takes other bytes than other ints
        (b"\0\0\0\0", 13, "0", {}),
    ],
)
def test_what_may_differ_is_looked_at(nil, value, code, obj, more):
    assert kind(value, obj, nil, code, **more) is None


def test_an_attribute_is_looked_at(nil):
    names, address = sexp(2, b"", nil)
    assert kind(struct.pack("d", 2.5), 2.5, nil, 14) is not None
    assert kind(struct.pack("d", 2.5), 2.5, nil, 14, attributes=address) is None
    del names


def test_true_and_one_are_not_the_same_kind(nil):
    found = [kind(struct.pack("i", 1), obj, nil, code) for obj, code in ((True, 10), (1, 13), (False, 10))]
    assert found[0] != found[1] and found[2] is None


def test_counts_are_read_while_they_grow(tmp_path):
    path = tmp_path / "conversions-1.counts"
    assert list(counted(path)) == []
    counts = Counts(path)
    assert counts.add(3, 10, 2) and counts.add(3, 5, 1) and counts.add(0, 1, 1)
    assert list(counted(path)) == [(0, 1, 1, 1), (3, 15, 3, 2)]
    again = Counts(path)  # a forked process
    assert again.add(3, 1, 1) and list(counted(path))[1] == (3, 16, 4, 3)


def test_a_number_without_a_place_is_told(tmp_path):
    counts = Counts(tmp_path / "a.counts")
    assert counts.add(MOST - 1, 1, 1) and not counts.add(MOST, 1, 1)
    assert not Counts(tmp_path / "missing" / "a.counts").add(0, 1, 1)


def test_floats_held_twice_are_counted_once():
    own = [float(f"{i}.5") for i in range(100)]
    assert r_compared.python_side(own).bytes == sys.getsizeof(own) + 100 * 24
    again = [own[0]] * 5
    assert r_compared.python_side(again).bytes == sys.getsizeof(again) + 24
    one = [*own, own[3]]
    assert r_compared.python_side(one).bytes == sys.getsizeof(one) + 100 * 24
