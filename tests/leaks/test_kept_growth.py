"""What native code keeps is told when it grows with the runs; an exception names the fault that caused it."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
static PyObject **kept, *last;
static size_t count;
static PyObject *keep(PyObject *self, PyObject *x) { // as pybind11's keep_alive of a nurse that lives
    kept = realloc(kept, ++count * sizeof *kept);
    kept[count - 1] = Py_NewRef(x);
    Py_RETURN_NONE;
}
static PyObject *remember(PyObject *self, PyObject *x) {
    Py_XSETREF(last, Py_NewRef(x));
    Py_RETURN_NONE;
}
static PyObject *release(PyObject *self, PyObject *x) { // the attribute's reference, once too often
    PyObject *field = PyObject_GetAttrString(x, "field");
    Py_DECREF(field);
    Py_DECREF(field);
    Py_RETURN_NONE;
}
typedef struct { PyObject_HEAD PyObject *other; } Node; // no tp_traverse
static int init(PyObject *self, PyObject *args, PyObject *names) {
    ((Node *)self)->other = Py_NewRef(self);
    return 0;
}
static void end(PyObject *self) {
    if (PyObject_IS_GC(self)) PyObject_GC_UnTrack(self);
    Py_CLEAR(((Node *)self)->other);
    Py_TYPE(self)->tp_free(self);
}
static int holds(PyObject *self, PyObject *args, PyObject *names) {
    return PyArg_ParseTuple(args, "O", &((Node *)self)->other) ? (Py_INCREF(((Node *)self)->other), 0) : -1;
}
static int forgets;
static int visit(PyObject *self, visitproc visit, void *arg) {
    if (!forgets) Py_VISIT(((Node *)self)->other);
    return 0;
}
static int clear(PyObject *self) { Py_CLEAR(((Node *)self)->other); return 0; }
static PyObject *turn(PyObject *self, PyObject *on) { forgets = PyObject_IsTrue(on); Py_RETURN_NONE; }
static PyTypeObject Half_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "keeps_more.Half", .tp_basicsize = sizeof(Node),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_new = PyType_GenericNew, .tp_init = holds,
    .tp_dealloc = end, .tp_traverse = visit, .tp_clear = clear,
};
static PyTypeObject Node_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "keeps_more.Node", .tp_basicsize = sizeof(Node),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = PyType_GenericNew, .tp_init = init,
};
"""


class Thing:
    """An object with attributes."""


@pytest.fixture(scope="module")
def keeps() -> Any:
    return specimens.build("keeps_more", SOURCE)


@pytest.mark.quick
def test_what_is_kept_and_grows_is_told(keeps: Any) -> None:
    found = inspector.leaks("keeps_more").run(lambda: keeps.keep(Thing()))
    assert found.verdicts == ()
    assert [row.growth for row in found.kept if row.object.endswith("Thing")] == [(1, 1, 1)]
    told = found.report.to_text()
    assert "What native code keeps grows: " in told.splitlines()[0]
    assert "Thing: 1, 1, 1 more after each of 3 runs" in told


def test_a_field_that_tp_traverse_forgets_is_told_once_runs_lose_cycles_by_it(keeps: Any) -> None:
    """Each count is right, and what the field holds looked kept on purpose."""
    held = []

    def ring() -> None:
        thing: Any = Thing()
        thing.half = keeps.Half(thing)

    def stays() -> None:
        held.append(keeps.Half(Thing()))

    for forgets, run, count in ((False, ring, 0), (True, stays, 0), (True, ring, 1)):
        keeps.turn(forgets)
        found = inspector.leaks("keeps_more").run(run)
        told = [(one.method, one.certain, one.object) for one in found.verdicts]
        assert told == [("keeps_more.Half.tp_traverse", False, "Thing")] * count
    assert "in cycles that no collection frees: the field at byte 16 is not visited" in repr(found)
    assert not any(row.growth for row in found.kept)
    assert held


def test_what_is_replaced_does_not_grow(keeps: Any) -> None:
    found = inspector.leaks("keeps_more").run(lambda: keeps.remember(Thing()))
    assert found.verdicts == () and not any(row.growth for row in found.kept)


def test_an_exception_that_a_fault_causes_names_the_fault(keeps: Any) -> None:
    thing: Any = Thing()
    thing.field = Thing.__new__
    with pytest.raises(TypeError) as caught, inspector.leaks("keeps_more"):
        thing.field = Thing()
        keeps.release(thing)
        thing.field()
    assert "released too often" in str(caught.value)
    (note,) = caught.value.__notes__
    assert note.startswith("inspector: over-released in keeps_more.release")


def test_another_exception_gets_no_note(keeps: Any) -> None:
    with pytest.raises(ZeroDivisionError) as caught, inspector.leaks("keeps_more"):
        keeps.remember(1 / 0)
    assert not hasattr(caught.value, "__notes__")


def growing(found: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(row.object, row.growth) for row in found.kept if row.growth]


def test_one_more_pointer_to_the_same_object_in_each_run_is_told(keeps: Any) -> None:
    """As pybind11's keep_alive of what a property returns again and again."""
    thing, mine = Thing(), []
    found = inspector.leaks("keeps_more").run(lambda: keeps.keep(thing))
    assert found.verdicts == () and growing(found) == [("references to one Thing", (1, 1, 1))]
    for run in (lambda: mine.append(thing), lambda: keeps.remember(thing)):
        assert not growing(inspector.leaks("keeps_more").run(run))


@pytest.mark.parametrize(("calls", "told"), [(3, []), (30, [("references to one Thing", (30,))])])
def test_many_calls_of_one_block_that_keep_the_same_object_are_told(
    keeps: Any, calls: int, told: list[Any]
) -> None:
    thing = Thing()
    with inspector.leaks("keeps_more") as found:
        for _ in range(calls):
            keeps.keep(thing)
    assert found.verdicts == () and growing(found) == told
    assert ("grows: references to one Thing, 30 more by this code." in repr(found.report)) == bool(told)


def test_what_calls_of_one_block_hand_to_the_user_does_not_grow(keeps: Any) -> None:
    thing, mine = Thing(), []
    with inspector.leaks("keeps_more") as found:
        for _ in range(30):
            keeps.remember(thing)
            mine.append([thing])
    assert found.verdicts == () and not growing(found)
