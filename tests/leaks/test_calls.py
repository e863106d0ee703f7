"""Constructors, results with an exception set, dead types, weak references, arguments kept: in plain C."""

# SPDX-License-Identifier: MIT
import gc
import json
from pathlib import Path
from typing import Any

import bad_objects
import given
import pytest
import specimens
from apart import printed, ran

import inspector
from inspector import _native
from inspector.ledger.hidden_owners import hidden_owners

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = r"""
#include <Python.h>
static PyObject *new_of(PyTypeObject *type, PyObject *args, int leaks) {
    PyObject *one;
    if (!PyArg_ParseTuple(args, "O", &one)) return NULL;
    volatile PyObject *taken = one; // or the compiler deletes the pair
    Py_INCREF((PyObject *)taken);
    if (!leaks) Py_DECREF((PyObject *)taken);
    return type->tp_alloc(type, 0);
}
static PyObject *leaky(PyTypeObject *type, PyObject *args, PyObject *names) { return new_of(type, args, 1); }
static PyObject *honest(PyTypeObject *type, PyObject *args, PyObject *names) { return new_of(type, args, 0); }
#define STATIC(name, new) { \
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "constructed." #name, .tp_basicsize = sizeof(PyObject), \
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = new}
static PyTypeObject Static_type = STATIC(Static, leaky);
static PyTypeObject Honest_type = STATIC(Honest, honest);
static PyType_Slot slots[] = {{Py_tp_new, leaky}, {0, NULL}};
static PyType_Spec Fixed_type = {
    "constructed.Fixed", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
"""


@pytest.mark.parametrize("name", ["Static", "Fixed"])
def test_a_tp_new_that_takes_one_too_many_is_named_on_the_first_call(name: str) -> None:
    """Several strings: memory may be full of the address of one, which has a possible owner then."""
    module = specimens.build("constructed", SOURCE)
    given = ["".join(["given to ", name, str(n)]) for n in range(8)]
    with inspector.leaks("constructed") as found:
        for one in given:
            getattr(module, name)(one)
    (verdict,) = found.verdicts
    assert (verdict.kind, verdict.method) == ("leaked", f"constructed.{name}.tp_new")
    assert verdict.object.startswith(f"str 'given to {name}")


def test_a_tp_new_that_balances_is_not_accused() -> None:
    module = specimens.build("constructed", SOURCE)
    with inspector.leaks("constructed") as found:
        module.Honest("".join(["given to ", "Honest"]))
    assert found.verdicts == ()


EXCEPTIONS = r"""
#include <Python.h>
static PyObject *with_exception(PyObject *self, PyObject *result) {
    PyErr_SetString(PyExc_ValueError, "left behind");
    return Py_NewRef(result);
}
static PyObject *a_new_one(PyObject *self, PyObject *items) {
    PyObject *made = PySequence_List(items);
    PyErr_SetString(PyExc_ValueError, "left behind");
    return made;
}
"""


@pytest.mark.parametrize(
    "items", [7, "text", [[1], {2: 3}], (1.5, (x for x in "ab"))], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("function", ["with_exception", "a_new_one"])
def test_a_result_with_an_exception_set_is_told(function: str, items: object) -> None:
    left = specimens.build("left_exception", EXCEPTIONS)
    if function == "a_new_one":
        items = [items]
    with inspector.leaks("left_exception") as found:
        getattr(left, function)(items)
    (one,) = found.verdicts
    assert (one.kind, one.method, one.certain) == (
        "result with an exception set",
        f"left_exception.{function}",
        True,
    )


GONE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD } Thing;
static PyObject *spare; // a block kept for reuse, as Cython keeps them: nobody frees it
static void keep(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    spare = self;
    Py_DECREF(type);
}
static PyType_Slot slots[] = {{Py_tp_dealloc, keep}, {0, NULL}};
static PyType_Spec spec = {"gone.Thing", sizeof(Thing), 0, Py_TPFLAGS_DEFAULT, slots};
static PyObject *make_type(PyObject *self, PyObject *unused) { return PyType_FromSpec(&spec); }
static PyObject *twice(PyObject *self, PyObject *type) {
    PyObject *thing = PyObject_CallNoArgs(type);
    volatile int times = 2;
    while (thing && times--) { Py_DECREF(thing); }
    Py_RETURN_NONE;
}
"""


def test_a_type_that_is_gone_is_not_read() -> None:
    gone: Any = specimens.build("gone", GONE)
    with inspector.leaks("gone") as found:
        kind = gone.make_type()
        gone.twice(kind)
        del kind
        gc.collect()
    (one,) = (one for one in found if one.kind == "over-released")
    assert (one.object, one.method) == ("object", "gone.twice")


KEPT = r"""
#include <Python.h>
#include <string.h>
typedef struct { PyObject_HEAD } Node;
static PyObject *spare;
static int visit_type(PyObject *self, visitproc visit, void *arg) { Py_VISIT(Py_TYPE(self)); return 0; }
static void keep(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    spare = self;
    Py_DECREF(type);
}
static PyType_Slot slots[] = {{Py_tp_dealloc, keep}, {Py_tp_traverse, visit_type}, {0, NULL}};
static PyType_Spec spec = {
    "kept.Node", sizeof(Node), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
static PyObject *make_type(PyObject *self, PyObject *unused) { return PyType_FromSpec(&spec); }
static PyObject *die(PyObject *self, PyObject *type) {
    Py_XDECREF(PyObject_CallNoArgs(type));
    Py_RETURN_NONE;
}
// Another use of the block, which is freed afterwards: there is no object in it any more.
void use_block(void) {
    char *block = (char *)spare - 16;
    memset(block, 0x31, 16 + sizeof(Node));
    PyObject_Free(block);
}
"""
CHILD = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import inspector, kept
kind, library = kept.make_type(), ctypes.PyDLL(kept.__file__)
with inspector.leaks("kept") as found:
    kept.die(kind)
    library.use_block()
print(len(found.verdicts))
"""


def test_a_block_whose_object_is_gone_is_freed_as_it_is() -> None:
    """Dict keys in the place of a dead node of pandas' once ended the process."""
    folder = str(specimens.library("kept", KEPT).parent)
    ended = ran("-c", CHILD, folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0\n", "")


WEAK = r"""
#include <Python.h>
static PyObject *lose(PyObject *self, PyObject *thing) {
    PyObject *seen = PyObject_Type(thing);
    Py_INCREF(thing);
    Py_RETURN_NONE;
}
"""
SCRIPT = """
import sys, weakref
sys.path.insert(0, {folder!r})
import specimens, inspector
weakly = specimens.build("weakly", {source!r})
class Thing: pass  # the class is in a weak reference too: object.__subclasses__()
thing = Thing()
seen = weakref.ref(thing), weakref.ref(thing, print), weakref.proxy(thing)
with inspector.leaks("weakly") as found:
    weakly.lose(thing)
for one in sorted(found, key=lambda one: one.object):
    print(one.kind, one.object.partition(" ")[0], one.certain)
print(found.fact.kept)
"""


def test_what_only_weak_references_point_to_is_leaked() -> None:
    folder = str(Path(specimens.__file__).parent)
    said = printed("-c", SCRIPT.format(folder=folder, source=WEAK))
    assert said.splitlines() == ["leaked Thing True", "leaked class True", "()"]


class Neighbour:
    __slots__ = ()


def wrong_with_a_neighbour() -> tuple[object, list[Neighbour]]:
    """One that lies, with an object of the gc right behind it: no other memory has it for the nearest."""
    neighbours: list[Neighbour] = []
    for _ in range(100):
        wrong = bad_objects.wrong_basicsize(1 << 40)
        neighbours += [Neighbour() for _ in range(600)]
        if any(0 < id(one) - id(wrong) <= 128 for one in neighbours):
            return wrong, neighbours
        bad_objects.set_basicsize(type(wrong), object.__basicsize__)
    raise AssertionError("no two objects lie beside each other")


def test_a_type_that_tells_more_bytes_than_it_has_hides_nothing() -> None:
    wrong, neighbours = wrong_with_a_neighbour()
    x = ["named by bytes, which hold no reference"]
    kept = [b"-" * 8 * (n % 9) + id(x).to_bytes(8, "little") for n in range(4_000)]
    words = _native.scan_words([(id(x), id(x) + 1)], _native.ledger_rooms(), 1 << 14)[0]
    assert kept and neighbours and any(place > id(wrong) for place, _ in words)
    found = hidden_owners([_native.Subject(x)])
    assert not any("Wrong" in one for one in found.get(id(x), ()))


@pytest.fixture(scope="module")
def judged() -> dict[str, Any]:
    specimens.library("given", given.SOURCE)  # compiled outside the child's deadline
    return json.loads(printed(given.__file__))


def test_what_init_keeps_without_a_reference_is_told_on_the_first_call(judged: Any) -> None:
    ((kind, certain, shown, method),) = judged["kept without a reference: fault"][0]
    assert (kind, certain, method) == ("over-released", True, "given.Box.tp_init")
    assert shown.startswith("Thing")


FAULTS = {
    "kept without a reference": ("over-released", ""),
    "in place without a reference": ("over-released", ""),
    "leaked where it is looked for": ("leaked", "Thing"),
    "leaked where it is refused": ("leaked", "Small"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_has_no_hook_is_told_by_several_runs(judged: Any, name: str) -> None:
    ((kind, certain, shown, _),) = judged[f"{name}: fault"][1]
    assert (kind, certain) == (FAULTS[name][0], True) and shown.startswith(FAULTS[name][1])


@pytest.mark.parametrize("name", given.USES)
def test_honest_twins_are_not_accused(judged: Any, name: str) -> None:
    assert judged[f"{name}: honest"] == [[], []]
