"""What an instance leaves behind as it dies, and honest code still holds, is not told as forgotten."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
#include <structmember.h>
enum { HONEST, FIELD, TYPE, TO_STATIC, TO_HEAP, TO_LIST, CACHES_TYPE, FREE_LIST, LATER };
typedef struct { PyObject_HEAD PyObject *kept; } Box;
static int way;
static PyObject *cache, *cached_type, *list, *spare, **waiting;
static int waits;
static int init(PyObject *self, PyObject *args, PyObject *names) {
    ((Box *)self)->kept = PyList_New(0);
    return 0;
}
static void hand_over(PyObject **kept) { // honest: the reference is somebody else's now
    if (way == TO_STATIC) Py_XSETREF(cache, *kept);
    else if (way == TO_HEAP) Py_XSETREF(waiting[7], *kept);
    else if (way == LATER) waiting[16 + waits++] = *kept;
    else if (way == TO_LIST) { PyList_Append(list, *kept); Py_DECREF(*kept); }
    else if (way != FIELD) Py_XDECREF(*kept);
    *kept = NULL;
}
static void end(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    hand_over(&((Box *)self)->kept);
    if (way == CACHES_TYPE && !cached_type) cached_type = Py_NewRef((PyObject *)type);
    if (way == FREE_LIST && !spare) { // it keeps its reference to the type
        spare = self;
        return;
    }
    type->tp_free(self);
    if (way != TYPE) Py_DECREF(type);
}
static PyObject *later(PyObject *self, PyObject *unused) { // what waits for a lock, say
    while (waits) Py_DECREF(waiting[16 + --waits]);
    Py_RETURN_NONE;
}
static PyObject *set_way(PyObject *self, PyObject *number) {
    waiting = waiting ? waiting : PyMem_RawCalloc(1024, sizeof *waiting);
    list = list ? list : PyList_New(0);
    way = (int)PyLong_AsLong(number);
    Py_RETURN_NONE;
}
static PyObject *reach(PyObject *self, PyObject *boxes) { // takes one too many of a field of what it got
    volatile PyObject *kept = ((Box *)PyList_GET_ITEM(boxes, 0))->kept;
    Py_INCREF((PyObject *)kept);
    Py_RETURN_NONE;
}
static PyMemberDef members[] = {{"kept", T_OBJECT, offsetof(Box, kept), READONLY}, {0}};
static PyType_Slot slots[] = {{Py_tp_init, init}, {Py_tp_dealloc, end}, {Py_tp_members, members}, {0}};
static PyType_Spec Box_type = {"deaths.Box", sizeof(Box), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
"""
NAMES = "honest", "field", "type", "to_static", "to_heap", "to_list", "caches_type", "free_list", "later"
WAYS = {name: number for number, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def deaths() -> Any:
    return specimens.build("deaths", SOURCE)


def told(deaths: Any, way: str, count: int = 1) -> list[tuple[str, bool, str]]:
    """Method, certainty and sentence of each verdict on `count` instances that live and die."""
    with inspector.leaks("deaths") as found:
        deaths.set_way(WAYS[way])
        for _ in range(count):
            box = deaths.Box()
            del box
        deaths.set_way(0)
    return [(one.method, one.certain, one.said) for one in found.verdicts]


@pytest.mark.parametrize("way", ["honest", "to_static", "to_heap", "to_list", "later"])
@pytest.mark.parametrize("count", [1, 5])
def test_what_something_else_holds_now_is_not_forgotten(deaths: Any, way: str, count: int) -> None:
    assert told(deaths, way, count=count) == []
    deaths.later()


@pytest.mark.parametrize("way", ["caches_type", "free_list"])
def test_a_type_that_c_keeps_is_never_told_certainly(deaths: Any, way: str) -> None:
    assert not [one for one in told(deaths, way, count=2) if one[1]]


def test_a_local_name_for_the_type_owns_it(deaths: Any) -> None:
    with inspector.leaks("deaths") as found:
        kind = deaths.Box
        again = [kind() for _ in range(3)]
        del again
    assert found.verdicts == ()


def test_who_reaches_into_an_object_may_be_the_one_that_lost_it(deaths: Any) -> None:
    """No hook sees a macro in a call that was given the object in a list: its death is not proof."""
    with inspector.leaks("deaths") as found:
        box = deaths.Box()
        deaths.reach([box])
        del box
    assert not [one for one in found.certain if "dealloc" in one.method]
