"""Bad inputs that are more than one object: hostile C types, memory that cannot be read, other allocators."""

# SPDX-License-Identifier: MIT
import ctypes
import gc
import mmap
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import programs
import pytest
import specimens
from unnamed import Thing

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.objects.probes.refs import owners

pytestmark = pytest.mark.core

TRAVERSE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD PyObject *kept; } Thing;
static volatile int mode;
static int thing_traverse(PyObject *self, visitproc visit, void *arg) {
    if (mode == 1) PyErr_SetString(PyExc_RuntimeError, "a traverse that raises");
    if (mode == 2) { PyObject *made = PyList_New(0);
        if (made) { PyList_Append(made, Py_None); Py_DECREF(made); } }
    Py_VISIT(Py_TYPE(self)); Py_VISIT(((Thing *)self)->kept); return mode == 3 ? -1 : 0; }
static void thing_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self); PyObject_GC_UnTrack(self); Py_CLEAR(((Thing *)self)->kept);
    type->tp_free(self); Py_DECREF(type); }
static PyType_Slot slots[] = {{Py_tp_traverse, thing_traverse}, {Py_tp_dealloc, thing_dealloc}, {0, NULL}};
static PyType_Spec Thing_type = {
    "traversed.Thing", sizeof(Thing), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
static PyObject *make(PyObject *self, PyObject *kept) {
    PyTypeObject *type = (PyTypeObject *)PyObject_GetAttrString(self, "Thing");
    Thing *made = type ? PyObject_GC_New(Thing, type) : NULL;
    Py_XDECREF(type); if (!made) return NULL;
    made->kept = Py_NewRef(kept); PyObject_GC_Track(made); return (PyObject *)made; }
static PyObject *set_mode(PyObject *self, PyObject *number) {
    mode = (int)PyLong_AsLong(number); Py_RETURN_NONE; }
"""

HANDLER = r"""
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
static void *take(void *ctx, size_t size) { return malloc(size); }
static void *take_zeros(void *ctx, size_t count, size_t size) { return calloc(count, size); }
static void *take_again(void *ctx, void *at, size_t size) { return realloc(at, size); }
static void give(void *ctx, void *at, size_t size) { free(at); }
static PyDataMem_Handler handler = {"planted_allocator", 1, {NULL, take, take_zeros, take_again, give}};
static PyObject *install(PyObject *self, PyObject *unused) {
    PyObject *capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    PyObject *before = capsule ? PyDataMem_SetHandler(capsule) : NULL;
    Py_XDECREF(capsule); return before; }
static PyObject *restore(PyObject *self, PyObject *before) { return PyDataMem_SetHandler(before); }
"""


@pytest.fixture(scope="module")
def traversed() -> ModuleType:
    return specimens.build("traversed", TRAVERSE)


@pytest.fixture
def mode(request: pytest.FixtureRequest, traversed: ModuleType) -> Iterator[int]:
    """How the planted tp_traverse misbehaves; the collector must not meet it."""
    gc.disable()
    traversed.set_mode(request.param)
    yield request.param
    traversed.set_mode(0)
    gc.enable()


@pytest.mark.parametrize("mode", [1, 2, 3], ids=["raises", "allocates", "says no"], indirect=True)
def test_a_traverse_that_misbehaves(mode: int, traversed: ModuleType) -> None:
    thing = Thing()
    holder = traversed.make(thing)
    subject = _native.Subject(thing)
    del thing
    assert "Thing" in inspector.inspect(holder, also=("owners",)).to_text()
    found = owners(subject, scan=True)
    (one,) = [one for one in found if "traversed.Thing" in one.holder or one.kind == "attribute"]
    assert (one.certain, one.references, found.unstored) == (True, 1, 0)
    assert inspector.retained(holder).objects == 1  # the box holds the subject too
    assert any(row.type_name == "traversed.Thing" and row.objects == 1 for row in inspector.heap().types)
    assert not isinstance(inspector.chain(subject.get()), Unknown)


def test_the_collector_may_run_at_any_allocation() -> None:
    thresholds = gc.get_threshold()
    thing = Thing()
    holder = {"kept": thing, "cycle": []}
    holder["cycle"].append(holder)  # type: ignore[attr-defined]
    subject = _native.Subject(thing)
    del thing
    gc.set_threshold(1, 1, 1)
    try:
        found = owners(subject, scan=True)
        text = inspector.inspect(holder).to_text()
        kept = inspector.retained(holder).objects
    finally:
        gc.set_threshold(*thresholds)
    assert [one.key for one in found if one.certain] == ["['kept']"]
    assert "dict" in text
    assert kept >= 2


def test_a_page_without_access_in_the_middle_of_a_mapping() -> None:
    """Under PROT_NONE a page is still in the process: it is left out, its neighbours are read."""
    libc = ctypes.CDLL(None, use_errno=True)
    memory = mmap.mmap(-1, 3 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    thing = Thing()
    for page in range(start, start + 3 * mmap.PAGESIZE, mmap.PAGESIZE):
        words = (ctypes.c_uint64 * 2).from_address(page)
        words[:] = id(thing), start + 64  # nobody else has the second
    middle = ctypes.c_void_p(start + mmap.PAGESIZE)
    assert libc.mprotect(middle, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    try:
        found = inspector.owners(thing, scan=True)
        hits, *_ = _native.scan_words([(start + 64, start + 72)])
    finally:
        assert libc.mprotect(middle, ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_WRITE) == 0
    seen = {(word - start) // mmap.PAGESIZE for word, _ in hits if 0 <= word - start < 3 * mmap.PAGESIZE}
    assert seen == {0, 2}
    assert not any(one.certain and one.kind == "mapping" for one in found)


def test_an_allocator_of_numpy_is_named() -> None:
    """NEP 49: the bytes of an array are named by the handler that was installed when it was made."""
    handled = specimens.build("handled", HANDLER, flags=(f"-I{np.get_include()}",))
    before = handled.install()
    try:
        array = np.empty(1000)
    finally:
        handled.restore(before)
    given = [array, array[10:], np.empty(3)[1:], np.empty(1000)]
    planted, view, other, own = (dict(inspector.inspect(x).buffer.facts).get("allocator") for x in given)
    assert (planted, own) == ("planted_allocator", "default_allocator") and view == other


INSIDE = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import inspector
inner = interpreters.create()
code = '''
import inspector
kept = {"planted": []}
try:
    print(inspector.refcount(kept["planted"]), flush=True)
except ImportError as error:
    print(error, flush=True)
'''
interpreters.run_string(inner, code)
print(inspector.owners(inner, scan=True).scan.hits > 0, inspector.heap().objects > 1000, flush=True)
interpreters.destroy(inner)
"""


def test_another_interpreter_of_the_process() -> None:
    """From 3.12 on it cannot load the extension, by PEP 684; its objects disturb no look of the first."""
    refused = "module inspector._native does not support loading in subinterpreters"
    told = programs.python(INSIDE, PYTHONWARNINGS="ignore").splitlines()
    assert told == [refused if sys.version_info >= (3, 12) else "1", "True True"]
