"""Type slots by an allow list: what is recorded, who is left alone, and every pointer put back."""

# SPDX-License-Identifier: MIT
from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from events import storm
from soak import rounds

import inspector
from inspector import _native
from inspector.facts.conversion import Call
from inspector.tracing.arm.type_files import subclasses

pytestmark = pytest.mark.core

SOURCE = """
#include <Python.h>
static char bytes[8] = "12345678";
static int get(PyObject *self, Py_buffer *view, int flags) {
    return PyBuffer_FillInfo(view, self, bytes, 8, 1, flags);
}
static PyObject *number(PyObject *self) { return PyLong_FromLong(7); }
static PyObject *real(PyObject *self) { return PyFloat_FromDouble(1.5); }
static PyObject *item(PyObject *self, Py_ssize_t index) {
    return index < 3 ? PyLong_FromSsize_t(index) : (PyErr_SetString(PyExc_IndexError, "end"), NULL);
}
static PyObject *iterate(PyObject *self) { return PySeqIter_New(self); }
static PyType_Slot slots[] = {{Py_bf_getbuffer, get}, {Py_nb_index, number}, {Py_nb_int, number},
    {Py_nb_float, real}, {Py_sq_item, item}, {Py_tp_iter, iterate}, {0, NULL}};
static PyType_Spec Thing_type = {"slotted.Thing", sizeof(PyObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
static PyObject *words(PyObject *self, PyObject *object) {
    PyTypeObject *type = (PyTypeObject *)object;
    return Py_BuildValue("(nnnnnnnn)", type->tp_as_buffer->bf_getbuffer, type->tp_as_number->nb_index,
                         type->tp_as_number->nb_int, type->tp_as_number->nb_float,
                         type->tp_as_sequence->sq_item, type->tp_iter, type->tp_new, type->tp_call);
}
"""
NAMES = ("bf_getbuffer", "nb_index", "nb_int", "nb_float", "sq_item", "tp_iter")


@pytest.fixture
def slotted(specimens: ModuleType) -> Any:
    return specimens.build("slotted", SOURCE)


def use(x: Any) -> list[object]:
    """Through every slot of the list."""
    return [bytes(memoryview(x)), range(20)[x], int(x), float(x), x[1], list(x)]


EXPECTED = [b"12345678", 7, 7, 1.5, 1, [0, 1, 2]]


def counted(calls: tuple[Call, ...]) -> Counter[str]:
    found: Counter[str] = Counter()
    for call in calls:
        found.update(counted(call.calls))
        if call.kind == "slot":
            found[call.name.rpartition(".")[2]] += call.times
    return found


@pytest.mark.quick
def test_each_slot_of_the_list_is_recorded_and_put_back(slotted: Any) -> None:
    before = slotted.words(slotted.Thing)
    with inspector.trace("slotted") as t:
        armed = slotted.words(slotted.Thing)
        assert use(slotted.Thing()) == EXPECTED
    assert slotted.words(slotted.Thing) == before
    assert [one != other for one, other in zip(before, armed, strict=True)] == [True] * 6 + [False] * 2
    assert counted(t.calls) == {**dict.fromkeys(NAMES, 1), "sq_item": 5}
    named = {call.name for call in t.calls if call.kind == "slot"}
    assert "slotted.Thing.nb_index" in named
    failed = [call for call in t.calls if call.name.endswith("sq_item") and call.failed]
    assert [call.failed for call in failed] == [1], "the end of the iteration is an IndexError"


def test_subclasses_that_share_the_pointer_and_those_that_do_not(slotted: Any) -> None:
    class Shares(slotted.Thing):  # type: ignore[misc, name-defined]
        pass

    class HasItsOwn(slotted.Thing):  # type: ignore[misc, name-defined]
        def __index__(self) -> int:
            return 3

    words = [slotted.words(kind) for kind in (slotted.Thing, Shares, HasItsOwn)]
    with inspector.trace("slotted") as t:
        while_armed = slotted.words(HasItsOwn)

        class MadeMeanwhile(slotted.Thing):  # type: ignore[misc, name-defined]
            pass

        assert use(Shares()) == use(MadeMeanwhile()) == EXPECTED
        assert range(20)[HasItsOwn()] == 3
    assert counted(t.calls)["nb_index"] >= 1
    assert while_armed[1] == words[2][1], "what CPython calls for a method of Python is its own"
    assert [slotted.words(kind) for kind in (slotted.Thing, Shares, HasItsOwn)] == words
    assert slotted.words(MadeMeanwhile)[:6] == words[1][:6]
    assert use(MadeMeanwhile()) == EXPECTED


def test_slots_that_are_cpythons_own_are_left_alone(slotted: Any) -> None:
    class Mapping(dict):  # type: ignore[type-arg]
        pass

    class Whole(int):
        pass

    generator = type(one for one in ())
    kinds = [Mapping, Whole, float, list, generator, type("Plain", (), {"__iter__": lambda self: iter(())})]
    rows = _native.type_slots_arm(kinds, True)
    _native.calls_disarm()
    assert rows == []


@pytest.mark.quick
def test_an_error_in_the_block_puts_everything_back(slotted: Any) -> None:
    before = slotted.words(slotted.Thing)
    for error in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error), inspector.trace("slotted"):
            raise error
        assert slotted.words(slotted.Thing) == before
    assert _native.calls_armed() == 0
    with inspector.trace("slotted", grade="count"):
        assert slotted.words(slotted.Thing) == before, "grade count leaves slots alone"


def test_a_storm_of_toggles_while_slots_are_called(slotted: Any) -> None:
    """Classes are made and slots called by three threads: no call goes wrong, no pointer stays."""
    wrong, kinds = list[object](), [slotted.Thing]
    before = slotted.words(slotted.Thing)

    def work() -> None:
        if len(kinds) < 60:
            kinds.append(type("Made", (slotted.Thing,), {}))
        for one in [kind() for kind in kinds]:
            if (got := use(one)) != EXPECTED:
                wrong.append(got)

    _native.calls_open(True)
    try:
        with storm(3, work):
            for _ in range(rounds(50, 20_000)):
                _native.type_slots_arm([slotted.Thing], True)
                _native.type_slots_arm(subclasses([slotted.Thing]), False)
                _native.type_slots_settle(subclasses([slotted.Thing]))
                _native.calls_disarm()
    finally:
        _native.type_slots_settle(subclasses([slotted.Thing]))
        _native.calls_disarm()
        _native.calls_open(False)
    assert wrong == []
    assert slotted.words(slotted.Thing) == before
    assert _native.calls_armed() == 0
