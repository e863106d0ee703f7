"""The shared pieces of the tests: a specimen does what its C says, a fingerprint sees each change."""

# SPDX-License-Identifier: MIT
import sys
import weakref
from collections.abc import Callable
from types import ModuleType

import numpy
import pytest

pytestmark = pytest.mark.core

HOLDER = """
#include <Python.h>
static PyObject *volatile kept; // owned
static PyObject *keep(PyObject *self, PyObject *object) {
    kept = Py_NewRef(object);
    Py_RETURN_NONE;
}
"""


def test_a_specimen_is_built_imported_and_cached(specimens: ModuleType) -> None:
    holder = specimens.build("holder", HOLDER)
    kept = object()
    before = sys.getrefcount(kept)
    holder.keep(kept)
    assert sys.getrefcount(kept) == before + 1
    path = specimens.library("holder", HOLDER)
    built_ns = path.stat().st_mtime_ns
    assert specimens.library("holder", HOLDER).stat().st_mtime_ns == built_ns


def test_wrong_c_is_told_in_the_compilers_words(specimens: ModuleType) -> None:
    with pytest.raises(RuntimeError, match="expected"):
        specimens.build("wrong", "int f( {")


class Plain:
    """An instance whose `__dict__` is not made until somebody asks."""

    def __init__(self) -> None:
        self.a = 1


def hold(x: object) -> object:
    return [x]


def view(x: object) -> object:
    return memoryview(x)  # type: ignore[arg-type]


def look_at_dict(x: object) -> object:
    return x.__dict__


def touch(x: object) -> object:
    x[-1] = 1  # type: ignore[index]
    return None


@pytest.mark.parametrize(
    ("make", "disturb"),
    [
        (Plain, hold),
        (Plain, weakref.ref),
        (Plain, look_at_dict),
        (lambda: bytearray(9), view),
        (lambda: numpy.zeros(9), view),
        (lambda: numpy.zeros(8 * 2**20), touch),
        (lambda: numpy.zeros(9), lambda x: x.setflags(write=False)),
    ],
    ids=["reference", "weakref", "dict", "export", "ndarray export", "page", "flag"],
)
def test_a_fingerprint_sees(
    make: Callable[[], object], disturb: Callable[[object], object], fingerprint: Callable[[object], object]
) -> None:
    x = make()
    before = fingerprint(x)
    assert fingerprint(x) == before
    kept = disturb(x)
    assert fingerprint(x) != before, kept


@pytest.mark.parametrize(
    "x",
    [
        *(2**40, "".join(("one word, ", "nobody else's")), [], {}, (2.5,), set(), len, sys),
        *(object, Plain, Plain(), numpy.arange(3), 1.5, b"12", range(3)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_taking_a_fingerprint_changes_nothing(x: object, fingerprint: Callable[[object], object]) -> None:
    assert fingerprint(x) == fingerprint(x)
