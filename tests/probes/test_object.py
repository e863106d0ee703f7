"""The facts of objects, types, modules and builtins, against real ones and an extension of our own."""

# SPDX-License-Identifier: MIT
import ctypes
import datetime
import decimal
import gc
import math
import re
import sys
import types
import uuid
from itertools import pairwise

import numpy as np
import pytest
import specimens

from inspector._native import Subject
from inspector.facts.native import Place
from inspector.facts.unknown import Unknown
from inspector.objects.probes.object import details, object_
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = [pytest.mark.core, pytest.mark.quick]

NODDY = """
#include <Python.h>
#include <structmember.h>
typedef struct { PyObject_HEAD int value; } Noddy;
static PyObject *noddy_twice(PyObject *self, PyObject *unused) {
    return PyLong_FromLong(2 * ((Noddy *)self)->value);
}
static PyObject *noddy_half(PyObject *self, void *unused) {
    return PyLong_FromLong(((Noddy *)self)->value / 2);
}
static PyObject *noddy_repr(PyObject *self) { return PyUnicode_FromString("noddy"); }
static PyMethodDef noddy_methods[] = {
    {"twice", noddy_twice, METH_NOARGS, "twice($self, /)\\n--\\n\\nTwice the value.\\nMore."},
    {"make", (PyCFunction)(void (*)(void))noddy_twice, METH_CLASS | METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef noddy_members[] = {
    {"value", T_INT, offsetof(Noddy, value), READONLY, "The value."},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef noddy_getset[] = {
    {"half", noddy_half, NULL, "Half.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyTypeObject StaticNoddy = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "noddy.StaticNoddy", .tp_basicsize = sizeof(Noddy),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew,
    .tp_repr = noddy_repr, .tp_methods = noddy_methods,
    .tp_members = noddy_members, .tp_getset = noddy_getset,
};
static PyType_Slot slots[] = {
    {Py_tp_methods, noddy_methods}, {Py_tp_members, noddy_members}, {Py_tp_repr, noddy_repr}, {0, NULL},
};
static PyType_Spec spec = {"noddy.HeapNoddy", sizeof(Noddy), 0, Py_TPFLAGS_DEFAULT, slots};
static int noddy_exec(PyObject *module) {
    PyObject *heap = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!heap || PyModule_AddType(module, (PyTypeObject *)heap) < 0) return -1;
    Py_DECREF(heap);
    return PyModule_AddType(module, &StaticNoddy);
}
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, noddy_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};
static struct PyModuleDef noddy = {PyModuleDef_HEAD_INIT, "noddy", "Noddy.", 24, NULL, module_slots,
                                   NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_noddy(void) { return PyModuleDef_Init(&noddy); }
"""


@pytest.fixture(scope="module")
def noddy():
    return specimens.build("noddy", NODDY)


def drawn(fact):
    return plain_text(view(fact), Drawing())


def where(place):
    assert isinstance(place, Place)
    return place.library.rpartition("/")[2].partition(".")[0], place.symbol, place.offset_bytes


def test_a_multi_phase_module(noddy):
    fact = details(Subject(noddy))["module"]
    assert (fact.phases, fact.m_size) == ("multi-phase", 24)
    assert fact.types == ("HeapNoddy", "StaticNoddy")
    assert where(fact.slots[0].place)[:2] == ("noddy", "noddy_exec")
    assert not isinstance(fact.state_address, Unknown)
    text = drawn(fact)
    assert text.startswith(" module   noddy  extension, multi-phase initialization\n")
    assert " state    24 B per module object  at 0x" in text
    assert "   Py_mod_exec" in text and "noddy.so noddy_exec+0x0\n" in text
    assert " types    2\n   HeapNoddy\n   StaticNoddy\n" in text
    if sys.version_info >= (3, 12):
        assert (fact.slots[1].name, fact.slots[1].value) == (
            "Py_mod_multiple_interpreters",
            "Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED",
        )


@pytest.mark.parametrize("name", ["StaticNoddy", "HeapNoddy"])
def test_a_type_of_an_extension(noddy, name):
    fact = details(Subject(getattr(noddy, name)))["type"]
    assert fact.name == f"noddy.{name}"
    assert fact.module == "noddy"
    assert fact.defined_in == noddy.__file__
    assert fact.basicsize_bytes == 24
    assert fact.members[0] == "value: T_INT at 16 read-only"
    twice, make = fact.methods
    assert (twice.name, twice.flags, twice.doc) == ("twice", ("METH_NOARGS",), "Twice the value.")
    assert where(twice.place) == ("noddy", "noddy_twice", 0)
    assert make.flags == ("METH_KEYWORDS", "METH_FASTCALL", "METH_CLASS")
    assert ("Py_TPFLAGS_HEAPTYPE" in fact.flags) is (name == "HeapNoddy")
    own = {slot.name: slot for slot in fact.slots if not slot.inherited}
    assert where(own["tp_repr"].place) == ("noddy", "noddy_repr", 0)
    assert {slot.name for slot in fact.slots if slot.inherited} >= {"tp_str", "tp_getattro"}
    text = drawn(fact)
    assert text.startswith(f" class    noddy.{name}  of object, in noddy.so\n instance 24 B ")
    assert re.search(r"^   twice  METH_NOARGS +noddy.so noddy_twice\+0x0  \"Twice the value.\"$", text, re.M)
    assert " members  1\n   value: T_INT at 16 read-only\n" in text and " own  " in text


def test_an_instance_names_the_file_of_its_type(noddy):
    for kind in (noddy.StaticNoddy, noddy.HeapNoddy):
        assert object_(Subject(kind())).defined_in == noddy.__file__


def test_a_class_statement_over_a_c_type_tells_the_c_tables(noddy):
    class Child(noddy.StaticNoddy):
        def __repr__(self):
            return "child"

    fact = details(Subject(Child))["type"]
    assert fact.tables_of == "noddy.StaticNoddy"
    assert [method.name for method in fact.methods] == ["twice", "make"]
    assert fact.defined_in == __name__
    inherited = {slot.name: slot.inherited for slot in fact.slots}
    assert inherited["tp_repr"] is False
    assert inherited["tp_str"] is True
    assert " methods  2      of noddy.StaticNoddy\n" in drawn(fact)


def test_an_overridden_method_is_own_though_its_slot_function_is_shared():
    class Base:
        def __len__(self):
            return 1

    class Own(Base):
        def __len__(self):
            return 2

    class Takes(Base):
        pass

    for kind, inherited in ((Own, False), (Takes, True)):
        slots = {slot.name: slot.inherited for slot in details(Subject(kind))["type"].slots}
        assert slots["sq_length"] is inherited


def test_a_python_module_says_so():
    fact = details(Subject(types))["module"]
    assert fact.phases == "Python"
    assert isinstance(fact.m_size, Unknown)
    assert isinstance(fact.state_address, Unknown)
    assert "made in Python: no PyModuleDef" in drawn(fact) and "\n state " not in drawn(fact)
    assert "SimpleNamespace" not in fact.types or fact.name == "types"


def test_a_module_without_a_file():
    assert isinstance(details(Subject(types.ModuleType("made")))["module"].file, Unknown)
    assert details(Subject(sys))["module"].file.rpartition("/")[2].partition(".")[0] in (
        "libpython3",
        *(sys.executable.rpartition("/")[2].partition(".")[0], f"python{sys.version_info[0]}"),
    )


@pytest.mark.parametrize(
    ("builtin", "kind", "slot", "bound"),
    [
        (math.sqrt, "builtin_function_or_method", "", "math"),
        ([].append, "builtin_function_or_method", "", "list"),
        (list.append, "method_descriptor", "", "list"),
        (dict.__dict__["fromkeys"], "classmethod_descriptor", "", "dict"),
        (int.__repr__, "wrapper_descriptor", "tp_repr", "int"),
        (list.__len__, "wrapper_descriptor", "mp_length", "list"),
        (int.__add__, "wrapper_descriptor", "nb_add", "int"),
        (memoryview.__getitem__, "wrapper_descriptor", "mp_subscript", "memoryview"),
        ((3).__repr__, "method-wrapper", "tp_repr", "int"),
        (type.__dict__["__dict__"], "getset_descriptor", "", "type"),
    ],
)
def test_every_shape_of_builtin(builtin, kind, slot, bound):
    fact = details(Subject(builtin))["builtin"]
    assert (fact.kind, fact.slot, fact.bound_to) == (kind, slot, bound)
    assert isinstance(fact.method.place, Place)
    text = drawn(fact)
    assert text.startswith(f" method   {fact.method.name}  ") and "\n called   " in text
    assert re.search(rf"^ bound to {bound} +{kind}", text, re.M)


def test_wrapped_slots_are_those_of_the_type():
    """The table that names a slot by its offset agrees with the addresses in the type itself."""
    slots = {slot.name: slot.place.address for slot in details(Subject(int))["type"].slots}
    for name in ("__repr__", "__add__", "__hash__", "__bool__", "__index__", "__rpow__", "__floordiv__"):
        fact = details(Subject(getattr(int, name)))["builtin"]
        assert slots[fact.slot] == fact.method.place.address


def test_other_objects_have_no_details():
    for other in (1, "x", [], types.SimpleNamespace(), lambda: 0):
        assert details(Subject(other)) == {}


def test_interned_is_the_one_string_that_stands_for_its_equals():
    made = "".join(["the one ", "of this test"])
    assert object_(Subject(made)).interned is False
    assert sys.intern(made) is made
    twin = "".join(["the one ", "of this test"])
    assert (object_(Subject(made)).interned, object_(Subject(twin)).interned) == (True, False)
    assert object_(Subject("a_name_in_this_code")).interned is True
    assert object_(Subject(type("Text", (str,), {})(made))).interned is False
    for other in (made.encode(), 5, None):
        assert object_(Subject(other)).interned == Unknown("only a str can be interned")


def test_immortal_is_what_the_count_says():
    """The oracle is the count: PEP 683 and the static objects of 3.11 are beyond what references reach."""
    class_, name = type("Mortal", (), {}), "".join(["mortal ", "text"])
    for x in (10**9, 1.5, (1, class_), [None], class_, class_(), name, sys.maxsize, math, object()):
        assert (object_(Subject(x)).immortal, sys.getrefcount(x) < 1 << 24) == (False, True), x
    for x in (5, -5, (), b"", "", "a"):
        assert (object_(Subject(x)).immortal, sys.getrefcount(x) > 1 << 28) == (True, True), x
    for x in (None, True, ..., NotImplemented, int, type, list):
        assert object_(Subject(x)).immortal is (sys.version_info >= (3, 12)), x
        assert (sys.getrefcount(x) > 1 << 28) is (sys.version_info >= (3, 12)), x


def test_types_made_at_run_time():
    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int)]

    fact = details(Subject(Point))["type"]
    assert fact.bases == ("_ctypes.Structure",)
    assert fact.metatype.startswith("_ctypes.")
    assert fact.instances_weakrefable is True


def test_a_look_leaves_a_type_as_it_was(fingerprint):
    class Watched:
        pass

    before = fingerprint(Watched), Watched.__dict__.copy()
    object_(Subject(Watched))
    details(Subject(Watched))
    assert (fingerprint(Watched), Watched.__dict__.copy()) == before


def test_looks_leak_nothing():
    """Blocks of pymalloc after each of 5 rounds of 200 looks: a leak grows in every round."""
    looked_at = [[1, {"a": 2}], "text", types.SimpleNamespace, math, math.gcd, int.__repr__, 10**50, object()]
    subjects = [Subject(each) for each in looked_at]
    counts = []
    for _ in range(6):
        for _ in range(25):
            for subject in subjects:
                object_(subject)
                details(subject)
        gc.collect()  # empties CPython's free lists too
        counts.append(sys.getallocatedblocks())
    growth = [after - before for before, after in pairwise(counts[1:])]
    assert min(growth) < 25, growth


class OwnZone(datetime.tzinfo):
    def utcoffset(self, _: datetime.datetime | None) -> datetime.timedelta:
        raise AssertionError("it is asked")


class OwnDecimal(decimal.Decimal):
    def __str__(self) -> str:
        raise AssertionError("it is asked")


class OwnText(str):
    def __repr__(self) -> str:
        raise AssertionError("it is asked")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (datetime.datetime(2026, 2, 3, 4, 5, tzinfo=datetime.UTC), "2026-02-03 04:05:00+00:00"),
        (datetime.timedelta(days=2), "2 days, 0:00:00"),
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (re.compile("a+"), "re.compile('a+')"),
        (np.float32(0.1), "0.1"),
        (np.datetime64("2026-02-03"), "2026-02-03"),
        (np.dtype("<f8,<i4"), "[('f0', '<f8'), ('f1', '<i4')]"),
        (np.str_("a" * 100), "a" * 59 + "…"),
    ],
)
def test_a_value_is_written_as_its_library_does(x: object, text: str) -> None:
    assert object_(Subject(x)).preview == text


@pytest.mark.parametrize(
    "x",
    [
        datetime.datetime(2026, 2, 3, tzinfo=OwnZone()),
        datetime.time(4, tzinfo=OwnZone()),
        OwnDecimal(1),
        re.compile(OwnText("a")),
        np.dtype("f8", metadata={"unit": OwnText("m")}),
        decimal.Decimal("1" * 5_000),
    ],
)
def test_no_code_of_a_user_is_asked_for_a_value(x: object) -> None:
    assert isinstance(object_(Subject(x)).preview, Unknown)


@pytest.mark.libraries
def test_values_of_libraries_are_written_too() -> None:
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    these = [pa.scalar(5), pa.scalar(None, pa.float64()), pa.int64(), pd.Interval(0, 1), pd.Period("2024-01")]
    assert [object_(Subject(one)).preview for one in these] == ["5", "None", "int64", "(0, 1]", "2024-01"]
    own = type("Own", (float,), {"__str__": lambda self: pytest.fail("it is asked")})
    assert isinstance(object_(Subject(pd.Interval(own(0), 1))).preview, Unknown)
