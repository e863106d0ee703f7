"""Honest calls that were accused once: each test fails with the rule that did it."""

# SPDX-License-Identifier: MIT
import functools
import pickle
import re
import sys
from itertools import count, islice
from typing import Any

import numpy as np
import pytest
import specimens
from apart import printed, ran
from leak_corpus import SOURCE
from soak import rounds

import inspector

pytestmark = pytest.mark.core

TAKES_OUT = r"""
#include <Python.h>
static PyObject *take_out(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    return PySequence_DelItem(args[0], 0) < 0 ? NULL : Py_NewRef(Py_None);
}
"""

RESEMBLES = r"""
#include <Python.h>
static PyObject *remember(PyObject *self, PyObject *unused) {
    size_t *block = PyObject_Malloc(320); // no object, and never freed
    memcpy(block, "a path that ends in", 16);
    block[2] = 28531;
    block[3] = (size_t)&PyTuple_Type;
    Py_RETURN_NONE;
}
typedef struct { PyObject_HEAD PyObject *held; } Thing;
static Thing only; // memory of the type's own
static void end(PyObject *self) { memset(&only, 0x80, sizeof only); }
static PyTypeObject Thing_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "resembles.Thing",
    .tp_basicsize = sizeof(Thing),
    .tp_dealloc = end,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};
static PyObject *own_memory(PyObject *self, PyObject *list) {
    PyObject *thing = PyObject_Init((PyObject *)&only, &Thing_type);
    int status = PyList_Append(list, thing) || PySequence_DelItem(list, 0);
    Py_DECREF(thing);
    return status ? NULL : Py_NewRef(Py_None);
}
"""

RAISES = r"""
#include <Python.h>
static PyObject *not_found(PyObject *self, PyObject *key) {
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}
static PyObject *calls(PyObject *self, PyObject *function) { return PyObject_CallNoArgs(function); }
"""


KEEPS = r"""
#include <Python.h>
static PyObject *keep(PyObject *self, PyObject *pair) { // in the list, at both places
    PyObject *list = PyTuple_GET_ITEM(pair, 0), *one = PyTuple_GET_ITEM(pair, 1);
    return PyList_Append(list, one) || PyList_Append(list, one) ? NULL : Py_NewRef(Py_None);
}
"""


def owned_by_name(x: Any) -> int:
    """References whose owner is found. (From 3.14 on `sys.getrefcount` does not always count the call.)"""
    return sum(one.references for one in inspector.inspect(x, scan=True).refs.owners)


def test_a_filled_cache_has_no_owner_in_its_last_link() -> None:
    """That link's pointer leads back to the cache and owns nothing; the ledger added a reference for it."""
    appends = specimens.build("appends", KEEPS)

    @functools.lru_cache(maxsize=64)
    def remembers(number: int) -> int:
        return number

    for number in range(5):
        remembers(number)
    kept: list[Any] = []
    before, owned = sys.getrefcount(remembers), owned_by_name(remembers)
    with inspector.leaks("appends") as found:
        appends.keep((kept, remembers))
    assert found.verdicts == () and found.fact.given_back == 0
    assert sys.getrefcount(remembers) == before + 2
    assert owned_by_name(remembers) == owned + 2


META = r"""
#include <Python.h>
typedef struct { PyHeapTypeObject type; PyObject *names, *again; } Meta; // only `names` is visited
static int visit(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((Meta *)self)->names);
    return PyType_Type.tp_traverse(self, visit, arg);
}
static void end(PyObject *self) {
    Py_CLEAR(((Meta *)self)->names);
    Py_CLEAR(((Meta *)self)->again);
    PyType_Type.tp_dealloc(self);
}
static PyTypeObject Meta_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "metas.Meta", .tp_basicsize = sizeof(Meta),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_TYPE_SUBCLASS,
    .tp_base = &PyType_Type, .tp_traverse = visit, .tp_dealloc = end,
};
static PyObject *name(PyObject *self, PyObject *kind) {
    Meta *meta = (Meta *)kind;
    meta->names = PyTuple_Pack(2, kind, Py_None);
    meta->again = Py_NewRef(meta->names);
    Py_RETURN_NONE;
}
static PyObject *lose(PyObject *self, PyObject *kind) {
    Meta *meta = (Meta *)kind;
    meta->names = Py_NewRef(PyTuple_Pack(2, kind, Py_None));
    Py_RETURN_NONE;
}
static PyObject *meta(PyObject *self, PyObject *unused) {
    return PyType_Ready(&Meta_type) < 0 ? NULL : Py_NewRef((PyObject *)&Meta_type);
}
"""


def test_a_field_of_a_class_that_is_not_visited_owns() -> None:
    """As msgspec's StructMeta, which visits one of the fields that hold a class's tuple of names."""
    metas = specimens.build("metas", META)
    kind, other = metas.meta()("Kind", (), {}), metas.meta()("Other", (), {})
    with inspector.leaks("metas") as found:
        metas.name(kind)
    assert found.verdicts == ()
    with inspector.leaks("metas") as found:
        metas.lose(other)
    assert [one.kind for one in found.certain] == ["leaked"]


def test_no_count_of_a_singleton_changes_within_a_call() -> None:
    """A lookup of an attribute released None from CPython's cache, which the ledger had emptied."""
    appends = specimens.build("appends", KEEPS)
    counts = []
    outside = sys.getrefcount(None)
    with inspector.leaks("appends"):
        counts.append(sys.getrefcount(None))
        appends.keep.__text_signature__, appends.keep.__doc__, [].append, "".join
        counts.append(sys.getrefcount(None))
    assert abs(counts[0] - outside) < 100 and counts[0] == counts[1]


LOOKS_UP = """
import itertools, inspector, _decimal
names = (f"attribute {number}" for number in itertools.count())
def run():
    for name in itertools.islice(names, 200):
        getattr(_decimal.Decimal, name, None)
print(inspector.leaks("_decimal").run(run))
"""


def test_runs_that_look_up_new_attributes_do_not_accuse_none() -> None:
    """Each new name took the place of a None in CPython's cache: its count fell with every run."""
    assert printed("-c", LOOKS_UP) == "<leaks: Nothing is known: no call of _decimal was seen.>\n"


@pytest.fixture
def resembles() -> Any:
    return specimens.build("resembles", RESEMBLES)


def test_words_like_those_of_a_tuple_are_none(resembles: Any) -> None:
    """Where no list of the gc's has it; a collection would follow what stands there and end the process."""
    found = inspector.leaks("resembles").run(resembles.remember)
    assert {one.kind for one in found} <= {"bytes leaked outside objects"}  # its 320 bytes are lost


def test_memory_that_a_type_has_of_its_own_holds_no_dead_object(resembles: Any) -> None:
    with inspector.leaks("resembles") as found:
        resembles.own_memory([])
    assert found.verdicts == ()


def neighbours() -> tuple[list[int], int]:
    """A list whose only int lies right before the other int, where blocks are pymalloc's."""
    numbers = {id(number): number for number in range(10**6, 10**6 + 5000)}
    one, *others = numbers
    first = next((address for address in numbers if address + 32 in numbers), one)
    second = numbers.get(first + 32, numbers[others[0]])
    return [numbers.pop(first)], second


def test_the_block_before_an_argument_may_be_freed() -> None:
    module: Any = specimens.build("takes_out", TAKES_OUT)
    items, argument = neighbours()
    with inspector.leaks("takes_out") as found:
        module.take_out(items, argument)
    assert items == [] and found.verdicts == ()


def test_the_table_of_interned_strings_owns_none_of_them() -> None:
    corpus: Any = specimens.build("leak_corpus", SOURCE)
    name = "an_interned_name_that_a_static_keeps"
    with inspector.leaks("leak_corpus") as found:
        corpus.cached_in_static(name)
    assert found.verdicts == ()


def test_what_is_raised_holds_its_argument() -> None:
    module: Any = specimens.build("raises", RAISES)
    key, kept = f"key {id(module)}", []

    def fails() -> None:
        raise ValueError(fails)

    with inspector.leaks("raises") as found:
        for function, argument in ((module.not_found, key), (module.calls, fails)):
            try:
                function(argument)
            except (KeyError, ValueError) as error:
                kept.append(error)
    assert [type(error) for error in kept] == [KeyError, ValueError]
    assert found.fact.suspects == 0 and found.verdicts == ()


COLLECTED = """
import ctypes, inspector
with inspector.leaks() as found:
    out = ctypes.create_string_buffer(b"abc", 100).raw
print(found)
"""


def test_a_class_collected_while_owners_are_searched_still_owns() -> None:
    """`ctypes.create_string_buffer` makes a class, which only its own cycle holds when the block ends."""
    ended = ran("-c", COLLECTED)
    assert ended.stderr == ""  # ctypes calls once more on newer Pythons; its `*` is a call, too
    assert re.fullmatch(r"<leaks: No fault was found in the references of [1-9] calls?\.>\n", ended.stdout)


@pytest.mark.filterwarnings("ignore:Setting the dtype")
def test_an_argument_may_be_given_another_dtype_base_or_class() -> None:
    class First:
        pass

    class Second:
        pass

    shorts, wide, thing = np.arange(8, dtype="i2"), np.dtype("i4"), First()
    empty, state = np.ndarray((0,), "b"), (1, (2,), np.dtype("f8"), False, bytes(16))
    pickled = pickle.dumps(np.arange(3.0))
    with inspector.leaks("numpy") as found:
        shorts.dtype = wide
        empty.__setstate__(state)
        object.__setattr__(thing, "__class__", Second)
        total = pickle.loads(pickled).sum()
    assert (total, shorts.size, empty.size, type(thing)) == (3.0, 4, 2, Second)
    assert found.verdicts == ()


def test_links_of_caches_that_fill_and_forget() -> None:
    """A link of `functools.lru_cache` has two references: its table's, and the link's before it."""
    native, numbers = specimens.build("leak_corpus", SOURCE), count()
    caches = [functools.lru_cache(maxsize=size)(lambda *args: [*args]) for size in (8, 10_000, None)]

    def work(times: int) -> None:
        for number in islice(numbers, times):
            for cache in caches:
                cache(number), cache((number,), "text"), cache(number % 7)
            native.takes_and_gives_back([number])

    for _ in range(rounds(8, 100)):
        with inspector.leaks("leak_corpus") as found:
            work(5)
        assert found.verdicts == ()
    for times in (1, 20):  # 7 runs each
        assert inspector.leaks("leak_corpus").run(lambda times=times: work(times)).verdicts == ()


LENDS = r"""
#include <Python.h>
static const char *text;
static PyObject *document(PyObject *self, PyObject *words) { // as NumPy's add_docstring: kept for its bytes
    text = PyUnicode_AsUTF8(words);
    Py_INCREF(words);
    Py_RETURN_NONE;
}
static PyObject *again(PyObject *self, PyObject *pair) { // an item of a dict that lost a reference before
    return Py_XNewRef(PyDict_GetItem(PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1)));
}
static PyObject *lose(PyObject *self, PyObject *one) { return Py_NewRef(Py_NewRef(one)); }
typedef struct { PyObject_HEAD } Truth; // as NumPy's True
static PyTypeObject Truth_type;
static Truth only = {PyObject_HEAD_INIT(&Truth_type)};
static PyObject *compare(PyObject *a, PyObject *b, int operation) { return Py_NewRef((PyObject *)&only); }
static PyTypeObject Truth_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lends.Truth",
    .tp_basicsize = sizeof(Truth),
    .tp_richcompare = compare,
};
static PyObject *truth(PyObject *self, PyObject *one) {
    return PyType_Ready(&Truth_type) < 0 ? NULL : PyObject_RichCompare((PyObject *)&only, one, Py_EQ);
}
"""


@pytest.fixture
def lends() -> Any:
    return specimens.build("lends", LENDS)


@pytest.mark.parametrize("words", ["a text", "ein späterer Text"])
def test_a_text_whose_bytes_are_pointed_to_is_kept(lends: Any, words: str) -> None:
    words = f"{words} of {id(lends)}"
    with inspector.leaks("lends") as found:
        lends.document(words)
    assert not found.certain


def test_what_was_lost_before_is_no_fault_of_the_call_that_lends_it(lends: Any) -> None:
    kept = {"key": (id(lends),)}
    lends.lose(kept["key"])
    with inspector.leaks("lends") as found:
        first, second = lends.again((kept, "key")), lends.again((kept, "key"))
    assert first is second and not found.certain


def test_the_first_reference_of_a_static_object_is_nobodys(lends: Any) -> None:
    with inspector.leaks("lends") as found:
        kept = lends.truth(3)
    assert type(kept).__name__ == "Truth" and not found.certain


CACHES = r"""
#include <Python.h>
typedef struct { PyObject_HEAD } Number;
static PyObject *spare; // as gmpy2's, which keeps what died for the next call
static void end(PyObject *self) { spare = self; }
static PyTypeObject Number_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "caches.Number",
    .tp_basicsize = sizeof(Number),
    .tp_dealloc = end,
};
static PyObject *fail(PyObject *self, PyObject *unused) {
    if (PyType_Ready(&Number_type) < 0) {
        return NULL;
    }
    PyObject *result = spare ? Py_NewRef(spare) : (PyObject *)PyObject_New(Number, &Number_type);
    PyErr_SetString(PyExc_ZeroDivisionError, "no inverse exists");
    Py_XDECREF(result);
    return NULL;
}
"""


def test_an_exception_outlives_the_death_of_an_object_that_its_type_keeps() -> None:
    """It was swallowed: gmpy2's `invert` raised SystemError under the tool, and was accused."""
    module = specimens.build("caches", CACHES)
    with inspector.leaks("caches") as found:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                module.fail()
    assert not found.certain


ASKEW = r"""
#include <Python.h>
static PyObject *setup(PyObject *kind, PyObject *unused) { return Py_NewRef(kind); }
static PyMethodDef own[] = {{"__internal_mypyc_setup", setup, METH_O, NULL}, {0}};
static PyTypeObject Own_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "askew.Own", .tp_basicsize = sizeof(PyObject), .tp_methods = own,
};
static PyObject *call(PyObject *self, PyObject *unused) {
    return ((PyObject * (*)(PyObject *, char *)) own[0].ml_meth)((PyObject *)&Own_type, "no object");
}
"""
CALLS_ASKEW = """
import sys, inspector; sys.path.insert(0, sys.argv[1])
import askew
with inspector.leaks("askew") as found:
    askew.call()
print(found)
"""


def test_a_function_that_is_called_with_less_than_it_declares_ends_nothing() -> None:
    """As mypyc calls that which sets up an object; what it leaves in the second register is no object."""
    folder = str(specimens.library("askew", ASKEW).parent)
    told = printed("-c", CALLS_ASKEW, folder)
    assert told == "<leaks: No fault was found in the references of 1 call.>\n"


STALE = r"""
#include <Python.h>
#include <sys/mman.h>
static void unmap(PyObject *self) { munmap(self, 4096); }
static PyTypeObject Step_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stale.Step", .tp_basicsize = sizeof(PyObject),
    .tp_dealloc = unmap,
};
typedef struct { PyObject_HEAD void *last; } Walk; // the address of the latest step, not a reference
static PyObject *step(PyObject *self, PyObject *unused) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ((Walk *)self)->last = memory;
    return PyObject_Init(memory, &Step_type);
}
static PyObject *rest(PyObject *self, PyObject *unused) { Py_RETURN_NONE; }
static PyMethodDef walks[] = {{"step", step, METH_NOARGS, NULL}, {"rest", rest, METH_NOARGS, NULL}, {0}};
static PyTypeObject Walk_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stale.Walk", .tp_basicsize = sizeof(Walk), .tp_methods = walks,
    .tp_new = PyType_GenericNew,
};
static PyObject *walk(PyObject *self, PyObject *unused) {
    int failed = PyType_Ready(&Step_type) || PyType_Ready(&Walk_type);
    return failed ? NULL : PyObject_CallNoArgs((PyObject *)&Walk_type);
}
"""
WALKS = """
import sys, inspector; sys.path.insert(0, sys.argv[1])
import stale
walk = stale.walk()
with inspector.leaks("stale") as found:
    for _ in range(3):
        walk.step()
        walk.rest()
print(found)
"""


def test_a_field_may_lead_to_memory_that_is_gone() -> None:
    """NumPy's iterators lie in memory of its own, which Python frees through no hook: reading one ended the
    process.
    """
    told = printed("-c", WALKS, str(specimens.library("stale", STALE).parent))
    assert told == "<leaks: No fault was found in the references of 6 calls.>\n"
