"""Objects that nothing reaches and no collection frees. The witness is C: it counts what was never freed."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from apart import printed

pytestmark = pytest.mark.core
SPECIMENS = Path(__file__).parents[1] / "specimens"
C = r"""
#include <Python.h>
#include <structmember.h>
typedef struct { PyObject_HEAD long pad; PyObject *other, *also; } pair;
static long alive;
static PyObject *make(PyTypeObject *type, PyObject *a, PyObject *k) {
    alive++;
    return type->tp_alloc(type, 0);
}
static void untracked_free(PyObject *self) {
    alive--;
    Py_XDECREF(((pair *)self)->other);
    Py_XDECREF(((pair *)self)->also);
    Py_TYPE(self)->tp_free(self);
}
static void tracked_free(PyObject *self) { PyObject_GC_UnTrack(self); untracked_free(self); }
static int visit_other(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((pair *)self)->other);
    return 0;
}
static int clear_other(PyObject *self) { Py_CLEAR(((pair *)self)->other); return 0; }
static PyMemberDef fields[] = {{"other", T_OBJECT, offsetof(pair, other), 0, NULL},
                               {"also", T_OBJECT, offsetof(pair, also), 0, NULL}, {NULL}};
#define COMMON .tp_basicsize = sizeof(pair), .tp_new = make, .tp_members = fields
static PyTypeObject Plain_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "lostmod.Plain", COMMON,
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = untracked_free};
static PyTypeObject Half_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "lostmod.Half", COMMON,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_dealloc = tracked_free,
    .tp_traverse = visit_other, .tp_clear = clear_other};
typedef struct { PyObject_HEAD PyObject *parent; } small; // borrowed
static void child_free(PyObject *self) { Py_TYPE(self)->tp_free(self); }
static PyTypeObject Child_type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "lostmod.Child",
    .tp_basicsize = sizeof(small), .tp_dealloc = child_free};
static PyObject *child(PyObject *self, PyObject *parent) {
    small *made = PyType_Ready(&Child_type) < 0 ? NULL : PyObject_New(small, &Child_type);
    if (made) {
        made->parent = parent;
    }
    return (PyObject *)made;
}
typedef struct node { struct node *next; PyObject *held; } node;
static PyObject *volatile kept; // else the compiler deletes what is only stored
static node *volatile nodes;
static PyObject *count(PyObject *self, PyObject *unused) { return PyLong_FromLong(alive); }
static PyObject *lose(PyObject *self, PyObject *x) { Py_INCREF(x); Py_RETURN_NONE; }
static PyObject *keep(PyObject *self, PyObject *x) { kept = Py_NewRef(x); Py_RETURN_NONE; }
static PyObject *chain(PyObject *self, PyObject *x) {
    node *last = malloc(sizeof *last), *first = malloc(sizeof *first);
    *last = (node){NULL, Py_NewRef(x)};
    *first = (node){last, NULL};
    nodes = first;
    Py_RETURN_NONE;
}
static PyObject *shatter(PyObject *self, PyObject *x) { // old words of a tuple, in memory that is used again
    PyObject *tuple = PyTuple_Pack(2, x, x);
    PyObject_GC_UnTrack(tuple);
    PyTuple_SET_ITEM(tuple, 1, (PyObject *)16);
    Py_RETURN_NONE;
}
static PyObject *forge(PyObject *self, PyObject *tracked) {
    uintptr_t old[] = {PyLong_AsSize_t(tracked), 0, 1, (uintptr_t)&PyDict_Type, 1, 0, 0xdead000000000000, 0};
    nodes = malloc(sizeof old + 16);
    memcpy(nodes, old, sizeof old);
    Py_RETURN_NONE;
}
static PyObject *volatile registered[4]; // of its instances: pybind11 and nanobind keep such a table
static PyObject *registers(PyObject *self, PyObject *x) { registered[0] = x; Py_RETURN_NONE; }
static PyObject *enters(PyObject *self, PyObject *x) { // by the address of what C++ has in it
    registered[2] = (PyObject *)&((pair *)x)->pad;
    registered[3] = x;
    Py_RETURN_NONE;
}
static PyObject *forget(PyObject *self, PyObject *unused) { nodes = NULL; Py_RETURN_NONE; }
"""
START = """
import gc, json, sys
sys.path.insert(0, sys.argv[1])
import specimens
lostmod = specimens.build("lostmod", sys.argv[2])
import inspector
from inspector.facts.wire import to_wire
class Witness:
    pass
inspector.lost()  # what its first use imports would run the collector
gc.collect()
gc.disable()
"""
TELL = """
def made():
    make()
made()
def scrub(depth):
    # other values for the words that calls left on the stack and in caches: an old one may refer to some
    [int(str(n)) for n in range(99)], {n: [n] for n in range(99)}
    return depth and max([depth, depth], key=lambda n: scrub(depth - 1))
scrub(9)
found = inspector.lost()
print(json.dumps({"lost": [[row.type_name, row.objects, row.cause, row.holder, row.where, row.kept_objects,
    row.references, row.kept_bytes, row.certain] for row in found.rows], "garbage": found.garbage,
    "said": [one.text for one in found.answers],
    "alive": [lostmod.count(), [gc.collect(), lostmod.count()][1]],
    "witnesses": sum(type(one) is Witness for one in gc.get_objects())}))
"""


def told(program: str) -> dict[str, Any]:
    """What the verb says after a program, and what is alive before and after a collection."""
    *before, last = printed("-c", START + program + TELL, SPECIMENS, C).splitlines()
    return {"first": json.loads(before[0]) if before else "", **json.loads(last)}


PLAIN = """
def make():
    one = lostmod.Plain()
    one.other = [one, Witness()]
"""


@pytest.mark.quick
def test_a_cycle_through_a_type_without_traverse_is_told_with_type_and_field() -> None:
    found = told(PLAIN)
    (row,) = found["lost"]
    assert row[:7] == ["list", 1, "type without tp_traverse", "lostmod.Plain", "`other`, byte 24", 3, 1]
    assert found["alive"] == [1, 1] and found["witnesses"] == 1  # no collection frees it
    assert found["said"][0].startswith("One `list` is lost, with ") and "lostmod.Plain" in found["said"][0]


def test_a_table_of_instances_hides_none() -> None:
    """Its address owns nothing: the whole count of the instance is the list's."""
    found = told(PLAIN + "    lostmod.registers(one)")
    assert [row[:5] for row in found["lost"]] == [
        ["list", 1, "type without tp_traverse", "lostmod.Plain", "`other`, byte 24"]
    ]


ITSELF = """
def make():
    one = lostmod.Plain()
    one.other = one
    lostmod.enters(one)
"""


def test_a_table_by_address_hides_none_that_only_holds_itself() -> None:
    found = told(ITSELF)
    assert [row[:5] for row in found["lost"]] == [
        ["lostmod.Plain", 1, "type without tp_traverse", "lostmod.Plain", "`other`, byte 24"]
    ]
    assert "a cycle through its own field at `other`, byte 24, and" in found["said"][0]


@pytest.mark.parametrize("owner", ["lostmod.keep(one)", "one.other = None; lostmod.lose(one)"])
def test_such_a_table_is_an_owner_as_long_as_a_reference_is_not_the_objects_own(owner: str) -> None:
    assert told(f"{ITSELF}    {owner}")["lost"] == []


def test_what_a_static_owns_is_not_lost_though_a_lost_object_tells_of_it() -> None:
    found = told(PLAIN + "    lostmod.keep(one)")
    assert found["lost"] == []


def test_many_alike_are_one_row() -> None:
    fresh = "fresh = [[] for _ in range(9_000)]  # the next lists lie where no old word leads to\n"
    found = told(
        fresh + PLAIN.replace("make", "one_more") + "def make():\n    for _ in range(300): one_more()"
    )
    ((name, objects, *_, kept, references, _, _),) = found["lost"]
    assert name == "list" and 297 <= objects == references <= 300  # an old word in memory may refer to some
    assert 3 * objects <= kept <= 900 and found["alive"] == [300, 300]


def test_a_field_that_a_traverse_forgets_is_told() -> None:
    found = told("""
def make():
    one, honest = lostmod.Half(), lostmod.Half()
    one.also = [one]
    honest.other = [honest]
""")
    ((name, objects, cause, holder, where, *_),) = found["lost"]
    assert (name, objects, cause, holder) == ("list", 1, "field not visited", "lostmod.Half")
    assert where == "`also`, byte 32"
    assert found["alive"] == [2, 1]  # the collector frees the other one, which is told as garbage
    assert found["garbage"] >= 2


def test_two_that_the_collector_knows_nothing_of() -> None:
    """Neither is in a list of the collector, nor held by what is."""
    found = told("""
def make():
    one, other = lostmod.Plain(), lostmod.Plain()
    one.other, other.other = other, one
""")
    assert sum(row[1] for row in found["lost"]) == 2 and found["alive"] == [2, 2]
    assert {tuple(row[:4]) for row in found["lost"]} == {
        ("lostmod.Plain", 2, "type without tp_traverse", "lostmod.Plain")
    }


@pytest.mark.quick
def test_what_only_looks_like_an_object_is_neither_told_nor_followed() -> None:
    """An untracked tuple whose item is no address: showing it ended the process by SIGSEGV."""
    fresh = "fresh = [n + 0.5 for n in range(9_000)]  # the next floats lie where no old word leads to\n"
    found = told(fresh + "def make():\n    for n in range(8): lostmod.shatter(float(sys.argv[1] == '') + n)")
    second = f"byte {16 + tuple.__basicsize__} of a block"
    ((kind, many, *how),) = (row[:5] for row in found["lost"])
    assert (kind, how) == ("float", ["lost C memory", "", second])
    assert many >= 6, "an old word in memory that is used again may hide one of the eight"


def test_a_reference_that_c_code_took_and_lost() -> None:
    found = told("""
def make():
    lostmod.lose(Witness())
    lostmod.lose(bytearray(5_000_000))
""")
    rows = {row[0]: row for row in found["lost"]}
    assert set(rows) == {"__main__.Witness", "bytearray"} and found["witnesses"] == 1
    assert all(row[2:5] == ["no holder", "", ""] for row in rows.values())
    assert 5_000_000 <= rows["bytearray"][7] < 5_001_000


@pytest.mark.parametrize(("kind", "told_of"), [("f8", ["__main__.Witness"]), ("i8", [])])
def test_an_address_among_floats_holds_nothing(kind: str, told_of: list[str]) -> None:
    """The data of large arrays of floats is not searched; integers may be addresses that a library keeps."""
    found = told(f"""
import numpy as np
words = np.zeros(1 << 18, "{kind}")
def make():
    one = Witness()
    lostmod.lose(one)
    words.view("i8")[7] = id(one)
""")
    assert [row[0] for row in found["lost"]] == told_of


def test_what_c_code_keeps_is_not_lost() -> None:
    """In a static; at the end of a list of C structs, the first of which a static names."""
    found = told("""
def make():
    lostmod.keep([1, Witness()])
    lostmod.chain([2, Witness()])
""")
    assert found["lost"] == [] and found["witnesses"] == 2


def test_what_only_lost_c_memory_holds_is_lost() -> None:
    found = told("""
def make():
    lostmod.chain([2, Witness()])
    lostmod.forget()
""")
    ((name, objects, cause, holder, *_, kept, _, _, _),) = found["lost"]
    assert (name, objects, cause, holder, kept) == ("list", 1, "lost C memory", "", 2)


def test_what_a_cycle_only_holds_is_in_no_cycle() -> None:
    """The text refers to nothing: it goes with the object whose field holds it."""
    found = told(PLAIN + "    one.also = str(sys.argv) * 3_000")
    rows = {row[0]: row[2:5] for row in found["lost"]}
    assert rows["list"] == ["type without tp_traverse", "lostmod.Plain", "`other`, byte 24"]
    assert rows["str"] == ["lost holder", "lostmod.Plain", "`also`, byte 32"] and len(rows) == 2


def test_what_holds_itself_is_a_cycle() -> None:
    found = told("""
def make():
    one = lostmod.Half()
    one.also = one
""")
    ((name, objects, cause, holder, where, *_, certain),) = found["lost"]
    assert (name, objects, cause, holder) == ("lostmod.Half", 1, "field not visited", "lostmod.Half")
    assert (where, certain) == ("`also`, byte 32", True)


def test_a_field_that_may_borrow_is_no_certain_cycle() -> None:
    """A child's pointer to its parent, and C code lost the parent: the counts are those of a cycle."""
    found = told("""
def make():
    parent = lostmod.Half()
    parent.other = lostmod.child(parent)
    lostmod.lose(parent)
""")
    (row,) = found["lost"]
    assert (row[0], row[3], row[8]) == ("lostmod.Half", "lostmod.Child", False)


def test_what_c_code_lost_is_no_news_of_cycles() -> None:
    """The ledger tells it. Neither is certain: an address may be kept in a form that no search sees."""
    found = told("""
from inspector.sessions.lost import lost_since
def make():
    lostmod.lose(Witness())
    lostmod.chain([2])
    lostmod.forget()
    TOLD = [(row.cause, row.certain) for row in inspector.lost().rows]
    print(json.dumps([TOLD, lost_since()]))
""")
    causes = {(cause, certain) for cause, certain in found["first"][0]}
    assert causes and causes <= {("lost C memory", False), ("no holder", False)}  # an old word may hide one
    assert found["first"][1] == []


def test_garbage_is_not_lost() -> None:
    """Also where the collector cannot see how garbage holds it: it goes with its holder."""
    found = told("""
def make():
    cycle = [Witness()]
    hidden = lostmod.Plain()
    hidden.other = [Witness()]
    cycle += [cycle, hidden]
""")
    assert found["lost"] == [] and found["garbage"] >= 5
    assert found["alive"] == [1, 0] and found["witnesses"] == 0


@pytest.mark.libraries
def test_cycles_through_arrays_of_objects() -> None:
    found = told("""
import numpy
def one_more():
    array, witness = numpy.empty(3, object), Witness()
    array[1] = {"array": array, "big": numpy.ones(200_000), "witness": witness}
def make():
    for _ in range(20): one_more()
""")
    assert len(found["lost"]) == 1, found["lost"]
    ((name, objects, cause, holder, where, kept, _, size, _),) = found["lost"]
    assert (name, cause, holder, where) == ("dict", "object array", "numpy.ndarray", "item 1")
    assert 18 <= objects <= 20 == found["witnesses"] and 3 * objects <= kept <= 4 * objects
    assert 18 * 1_600_000 <= size <= objects * 1_602_000


@pytest.mark.libraries
def test_lost_objects_are_a_row_of_the_account_and_it_still_adds_up() -> None:
    found = told("""
import numpy
inspector.memory(lost=True)
def make():
    for _ in range(10):
        one = lostmod.Plain()
        one.other = [one, numpy.ones(400_000), bytearray(200_000)]
    del one
    global rows
    account = inspector.memory(lost=True)
    assert sum(row.resident_bytes for row in account.rows) == account.resident_bytes
    rows = {part.name: part.resident_bytes for part in account.row("lost").parts}
    for row in account.rows:
        assert sum(part.resident_bytes for part in row.parts) == row.resident_bytes, row
    assert 5 * 3_200_000 <= rows["numpy.ndarray"] < 32_100_000, rows
    assert 5 * 200_000 <= rows["bytearray"] < 2_100_000, rows
""")
    assert found["lost"][0][7] > 5 * 3_400_000


def test_leaks_magic_says_what_a_cell_left_in_cycles() -> None:
    cell = "%%inspect_leaks -m lostmod\nfor _ in range(5): f()"
    shown = told(f"""
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance(colors="NoColor")
shell.run_cell("%load_ext inspector\\nimport lostmod\\ndef f(): x = lostmod.Plain(); x.other = [x]")
def make():
    shell.run_cell("f()")
    with capture_output() as captured:
        assert shell.run_cell({cell!r}).success
    global told
    told = captured.outputs[0].data["text/plain"]
    print(json.dumps(told))
""")
    assert shown["first"].startswith(" 5 objects of type list are lost, with ")
    assert "lostmod.Plain" in shown["first"]


CALM = {
    "bare": "",
    "many": "rows = [{'id': i, 'name': str(i)} for i in range(50_000)]; rows.pop(); del rows[::2]",
    "weak": "import weakref\nd = weakref.WeakValueDictionary(); w = [Witness() for _ in range(9)]\n"
    "for i, x in enumerate(w): d[i] = x",
    "generators": "def g():\n    x = [1]\n    yield x\nlive = [g() for _ in range(9)]\n"
    "[next(x) for x in live]",
    "threads": "import threading, time\n"
    "for _ in range(4): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "asyncio": "import asyncio\nasync def f(): await asyncio.sleep(0)\nasyncio.run(f())",
    "stdlib": "import decimal, sqlite3, xml.etree.ElementTree as E, ctypes, ssl, datetime, logging\n"
    "t = E.fromstring('<a><b/></a>'); c = sqlite3.connect(':memory:'); x = decimal.Decimal('1.5')",
}


@pytest.mark.parametrize("name", CALM)
def test_an_honest_program_has_lost_nothing(name: str) -> None:
    assert told(CALM[name] + "\ndef make(): pass")["lost"] == []


@pytest.mark.parametrize("tracked", [0, 24])
def test_the_head_of_a_dict_in_reused_memory_is_no_dict(tracked: int) -> None:
    assert told(f"def make(): lostmod.forge({tracked})")["lost"] == []
