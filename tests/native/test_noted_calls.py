"""Calls recorded when they begin: the record is the same on the short way and on the long one."""

# SPDX-License-Identifier: MIT
from types import ModuleType

import pytest
from events import DEEP, FLAGS, function, kind, traced

pytestmark = [pytest.mark.core, pytest.mark.quick]

CALLER = """
#include <Python.h>
// Six words, al and two vector registers, and words on the stack.
static PyObject *printed(PyObject *self, PyObject *number) {
    char text[100];
    int n = (int)PyLong_AsLong(number);
    PyOS_snprintf(text, sizeof text, "%d %d %d %.1f %d %.2f %d", n, n + 1, n + 2, n / 2.0, n + 3, n / 4.0,
                  n + 4);
    return PyUnicode_FromString(text);
}
static PyObject *call_it(PyObject *self, PyObject *callable) { return PyObject_CallNoArgs(callable); }
static PyObject *without_gil(PyObject *self, PyObject *unused) {
    Py_BEGIN_ALLOW_THREADS
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
"""
NOTED = FLAGS["ENTRY"] | FLAGS["NO_GIL"]


@pytest.fixture(scope="module")
def caller(specimens: ModuleType) -> ModuleType:
    return specimens.build("noted", CALLER)


@pytest.mark.parametrize("clocks", [0, 1, 2])
def test_every_argument_arrives_and_three_are_shown(caller: ModuleType, clocks: int) -> None:
    with traced(caller, grade=DEEP, clocks=clocks) as seen:
        assert caller.printed(7) == "7 8 9 3.5 10 1.75 11"
    noted = next(event for event in seen.events if function(event) == "PyOS_snprintf")
    assert (kind(noted), noted.flags, noted.depth, noted.val) == ("NAMED", NOTED, 0, 100)
    assert noted.obj and noted.aux and bool(noted.start) == bool(clocks)
    unused = (noted.duration, noted.type, noted.code, noted.lasti, noted.refs, noted.refs_delta)
    assert unused == (0,) * len(unused)


@pytest.mark.parametrize("clocks", [0, 1])
def test_the_gil_is_noted_with_its_time(caller: ModuleType, clocks: int) -> None:
    with traced(caller, clocks=clocks) as seen:
        caller.without_gil()
    told = [(kind(event), event.func, event.flags, bool(event.start)) for event in seen.events]
    assert told == [("GIL", 0, NOTED, bool(clocks)), ("GIL", 1, NOTED, bool(clocks))]


def test_a_depth_beyond_a_byte_stops_at_255(caller: ModuleType) -> None:
    """There is no room for it just so: the long way is taken, and the arguments arrive."""
    texts = []

    def down(left: int) -> None:
        texts.append(caller.printed(left))
        if left:
            caller.call_it(lambda: down(left - 1))

    with traced(caller, grade=DEEP) as seen:
        down(300)
    depths = [event.depth for event in seen.events if function(event) == "PyOS_snprintf"]
    assert depths == [min(depth, 255) for depth in range(301)]
    assert texts[-1] == "0 1 2 0.0 3 0.00 4" and len(texts) == 301
