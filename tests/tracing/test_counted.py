"""Calls of the C API that a trace counts and does not record: how many, and where they are told."""

# SPDX-License-Identifier: MIT
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import specimens
from programs import inspector as command

import inspector
from inspector.facts.conversion import Call, Counted
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.report import from_text

pytestmark = [pytest.mark.core, pytest.mark.quick]
ASKING = """
#include <Python.h>
static PyObject *ask(PyObject *self, PyObject *args) { // how many of a list are of a class
    PyObject *list, *wanted;
    if (!PyArg_ParseTuple(args, "OO", &list, &wanted)) { return NULL; }
    long found = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        found += PyObject_IsInstance(PyList_GET_ITEM(list, i), wanted) && !PyErr_Occurred();
        void *memory = PyObject_Malloc(16);
        PyObject_Free(memory);
    }
    return PyLong_FromLong(found);
}
"""
ASKED = {"PyObject_IsInstance": 40, "PyErr_Occurred": 30, "PyObject_Malloc": 40, "PyObject_Free": 40}
FOUND = frozenset(Counted(name, "asking_x", times) for name, times in ASKED.items())
NUMBERS = [1] * 30 + [2.0] * 10
PROGRAM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import asking_x
asking_x.ask([1] * 30 + [2.0] * 10, int)
if sys.argv[2:] == ["die"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


class Bits(type):
    """Its classes ask another function of the module's whether an object is theirs."""

    def __instancecheck__(cls, one: Any) -> bool:
        return bool(sys.modules["asking_x"].ask([one], int))


class Bit(metaclass=Bits):
    """No instance of it is made."""


@pytest.fixture(scope="module")
def asking() -> ModuleType:
    return specimens.build("asking_x", ASKING)


def converted(calls: tuple[Call, ...]) -> list[str]:
    return [one.function for call in calls for one in call.conversions]


def test_questions_and_upkeep_are_counted_and_what_converts_is_recorded(asking: Any) -> None:
    for _ in range(2):  # each trace counts from 0
        with inspector.trace("asking_x") as t:
            assert asking.ask(NUMBERS, int) == 30
        assert set(t.fact.counted) == FOUND
        assert converted(t.calls) == ["PyArg_ParseTuple", "PyLong_FromLong"]


def test_deep_records_them_and_has_nothing_to_count(asking: Any) -> None:
    with inspector.trace("asking_x", grade="deep") as t:
        asking.ask(NUMBERS, int)
    assert {one.function: one.times for one in t.conversions if one.function in ASKED} == ASKED
    assert t.fact.counted == ()


def test_count_counts_all_and_calls_nothing_a_macro(asking: Any) -> None:
    with inspector.trace("asking_x", grade="count") as t:
        asking.ask([1] * 1000, int)
    told = {one.function: one.times for one in t.fact.counted}
    assert told == {**dict.fromkeys(ASKED, 1000), "PyArg_ParseTuple": 1, "PyLong_FromLong": 1}
    assert [call.macro_reads for call in t.calls] == [0]


def test_what_a_question_calls_back_stands_in_the_call(asking: Any) -> None:
    with inspector.trace("asking_x") as t:
        assert asking.ask([1, 2.0], Bit) == 1
    (outer,) = t.calls
    assert {call.name for call in outer.calls} == {"asking_x.ask"}
    assert sum(call.times for call in outer.calls) == 2
    assert {one.times for one in t.fact.counted if one.function == "PyObject_IsInstance"} == {4}


def test_the_report_the_saved_trace_and_json_say_them(asking: Any, tmp_path: Path) -> None:
    with inspector.trace("asking_x", out=tmp_path / "t.trace") as t:
        asking.ask(NUMBERS, int)
    said = t.tree()
    assert "150 calls of the C API in which no value crosses" in said
    assert "PyObject_IsInstance     40  asking_x" in said
    loaded: Any = inspector.load(tmp_path / "t.trace")
    assert loaded.fact == t.fact
    assert from_wire(type(t.fact), json.loads(json.dumps(to_wire(t.fact)))) == t.fact


@pytest.mark.parametrize("how", [(), ("die",)])
def test_a_program_tells_them_at_its_end_or_why_not(asking: Any, tmp_path: Path, how: Any) -> None:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    folder = str(Path(asking.__file__ or "").parent)
    ran = command("trace", "--json", "--", sys.executable, str(path), folder, *how)
    told: Any = from_text(ran.stdout, "stdout").trace.counted
    if how:
        assert told == Unknown("the program ended before it reported them")
    else:
        assert set(told) >= FOUND
