"""Calls of C functions by ctypes and cffi, callbacks into Python, the GIL, destructors and finalizers."""

# SPDX-License-Identifier: MIT
import ctypes
import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from apart import printed

import inspector
from inspector import _native
from inspector.facts.conversion import Call, Value
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.core

LIBC, LIBM = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libm.so.6")
LIBM.cos.restype, LIBM.cos.argtypes = ctypes.c_double, [ctypes.c_double]
LIBM.powf.restype, LIBM.powf.argtypes = ctypes.c_float, [ctypes.c_float, ctypes.c_float]
LIBC.strlen.restype = ctypes.c_size_t

CAPSULES = """
#include <Python.h>
static int destroyed;
static void destroy(PyObject *capsule) { destroyed++; }
static PyObject *make(PyObject *self, PyObject *how) {
    return PyCapsule_New(&destroyed, "a number of ours", how == Py_True ? destroy : NULL);
}
static PyObject *count(PyObject *self, PyObject *unused) { return PyLong_FromLong(destroyed); }
static void end(PyObject *self) { destroyed += 100; }
static PyType_Slot slots[] = {{Py_tp_finalize, end}, {0, NULL}};
static PyType_Spec Held_type = {"border_capsules.Held", sizeof(PyObject), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
"""


@contextmanager
def restored() -> Iterator[None]:
    """Every slot that was found holds what it held, when the block is over."""
    yield
    assert [row[2] for row in _native.got_slots() if row[6]] == []
    for row in _native.got_slots():
        held = ctypes.c_uint64.from_address(row[4]).value if row[3] == -3 else row[9]
        assert held == row[9], row[2]
    assert _native.calls_armed() == 0


def foreign(calls: tuple[Call, ...]) -> list[Call]:
    return [call for call in calls if call.kind == "foreign"]


def words(call: Call) -> tuple[list[str], str]:
    result = call.result.text if isinstance(call.result, Value) else ""
    return [argument.text for argument in call.arguments], result


def test_a_call_by_ctypes_tells_function_arguments_and_result() -> None:
    with restored(), inspector.trace("ctypes") as t:
        assert LIBM.cos(0.0) == 1.0
        assert LIBM.powf(2.0, 10.0) == 1024.0
        assert LIBC.labs(-5) == 5
        assert LIBC.strlen(b"four") == 4
    one, two, three, four = foreign(t.calls)
    assert (one.name, words(one)) == ("libm.so.6:cos", (["0.0"], "1.0"))
    assert (two.name, words(two)) == ("libm.so.6:powf", (["2.0", "10.0"], "1024.0"))
    assert (three.name, words(three)) == ("libc.so.6:labs", (["-5"], "5"))
    assert (four.name.partition(":")[0], words(four)[1]) == ("libc.so.6", "4")
    assert [argument.type_name for argument in (*one.arguments, *two.arguments)] == ["double"] + ["float"] * 2
    sites = [(call.site.file, call.site.text) for call in (one, three)]
    assert sites == [(__file__, text) for text in ("LIBM.cos(0.0)", "LIBC.labs(-5)")]


def test_without_a_choice_foreign_calls_are_recorded_and_with_another_they_are_not() -> None:
    with inspector.trace() as t:
        LIBM.cos(0.5)
    assert [call.name for call in foreign(t.calls)] == ["libm.so.6:cos"]
    with inspector.trace("math") as t:
        LIBM.cos(0.5)
    assert foreign(t.calls) == []


def test_a_callback_is_nested_in_the_call_that_made_it() -> None:
    pointer = ctypes.POINTER(ctypes.c_int)
    seen = []

    def compare(one: Any, other: Any) -> int:
        seen.append(one[0])
        LIBM.cos(0.0)
        return int(one[0] - other[0])

    callback = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)(compare)
    numbers = (ctypes.c_int * 5)(5, 3, 1, 4, 2)
    with restored(), inspector.trace("ctypes") as t:
        LIBC.qsort(numbers, 5, 4, callback)
    assert list(numbers) == [1, 2, 3, 4, 5]
    (sort,) = foreign(t.calls)
    (inner,) = sort.calls
    assert (sort.name, sort.arguments_left_out) == ("libc.so.6:qsort", 0)
    assert (inner.kind, inner.times, inner.site.file) == ("callback", len(seen), __file__)
    assert inner.name.endswith("compare")
    assert [(call.name, call.times) for call in foreign(inner.calls)] == [("libm.so.6:cos", len(seen))]
    assert "Python " in t.tree()


def test_errno_and_exceptions_are_what_they_were() -> None:
    with inspector.trace("ctypes") as t:
        ctypes.set_errno(0)
        assert LIBC.close(-1) == -1
        assert ctypes.get_errno() == errno.EBADF
        with pytest.raises(OverflowError):
            ctypes.pythonapi.PyLong_AsLong(ctypes.py_object(2**70))
    close, convert = foreign(t.calls)
    assert (close.name, words(close)) == ("libc.so.6:close", (["-1"], "-1"))
    assert convert.name.endswith(":PyLong_AsLong")
    assert convert.site.file == __file__, "a call that keeps the GIL is located too"


def test_more_arguments_than_are_kept_are_counted() -> None:
    LIBC.snprintf.restype = ctypes.c_int
    text = ctypes.create_string_buffer(64)
    numbers = [ctypes.c_int(n) for n in range(12)]
    with inspector.trace("ctypes") as t:
        LIBC.snprintf(text, ctypes.c_size_t(64), b"%d" * 12, *numbers)
    (call,) = foreign(t.calls)
    assert text.value == b"01234567891011"
    assert (len(call.arguments), call.arguments_left_out) == (12, 3)


def test_a_call_by_cffi_is_seen_with_its_callback() -> None:
    cffi = pytest.importorskip("cffi", reason="cannot be installed")
    ffi = cffi.FFI()
    ffi.cdef("double cos(double); void qsort(void *, size_t, size_t, int (*)(void *, void *));")
    libm, libc = ffi.dlopen("libm.so.6"), ffi.dlopen(None)
    numbers = ffi.new("int[3]", [3, 1, 2])

    def compare(one: Any, other: Any) -> int:
        return int(ffi.cast("int *", one)[0] - ffi.cast("int *", other)[0])

    callback = ffi.callback("int(void *, void *)", compare)
    with restored(), inspector.trace("cffi") as t:
        assert libm.cos(0.0) == 1.0
        libc.qsort(numbers, 3, 4, callback)
    assert list(numbers) == [1, 2, 3]
    cos, sort = foreign(t.calls)
    assert (cos.name, words(cos)) == ("libm.so.6:cos", (["0.0"], "1.0"))
    assert (sort.name, [inner.kind for inner in sort.calls]) == ("libc.so.6:qsort", ["callback"])


def test_functions_of_a_module_that_cffi_compiled(specimens: ModuleType, tmp_path: Path) -> None:
    cffi = pytest.importorskip("cffi", reason="cannot be installed")
    ffi = cffi.FFI()
    ffi.cdef("int twice(int); double half(double);")
    source = "int twice(int x) { return 2 * x; } double half(double x) { return x / 2; }"
    ffi.set_source("_border_cffi", source)
    ffi.emit_c_code(str(tmp_path / "_border_cffi.c"))
    module = specimens.build("_border_cffi", (tmp_path / "_border_cffi.c").read_text())
    library = vars(module)["lib"]
    with restored(), inspector.trace("_border_cffi") as t:
        assert (library.twice(21), library.half(3.0)) == (42, 1.5)
    twice, half = t.calls
    assert (twice.name, words(twice)) == ("_border_cffi.lib.twice", (["", "21"], "42"))
    assert (half.name, words(half)) == ("_border_cffi.lib.half", (["", "3.0"], "1.5"))


def test_python_that_an_extension_calls_is_a_callback(specimens: ModuleType) -> None:
    source = """
#include <Python.h>
static PyObject *apply(PyObject *self, PyObject *callable) {
    PyObject *first = PyObject_CallNoArgs(callable);
    Py_XDECREF(first);
    return first ? PyObject_CallFunctionObjArgs(callable, NULL) : NULL;
}
"""
    module = specimens.build("border_apply", source)

    class Counter:
        made = 0

        def count(self) -> int:
            self.made += 1
            return module.apply(int) if self.made == 2 else 0

    counter = Counter()
    for grade in ("record", "deep"):
        counter.made = 0
        with inspector.trace("border_apply", grade=grade) as t:
            assert module.apply(counter.count) == 0
        (outer,) = t.calls
        (inner,) = outer.calls
        assert (inner.kind, inner.times, inner.name.rpartition(".")[2]) == ("callback", 2, "count")
        assert inner.site.line == Counter.count.__code__.co_firstlineno
        assert [call.name for call in inner.calls] == ["border_apply.apply"]
        told = [(one.function, one.times) for one in inner.calls[0].conversions if "Call" in one.function]
        assert told == [("PyObject_CallNoArgs", 1), ("PyObject_CallFunctionObjArgs", 1)], "int is not Python"


def test_who_ran_while_the_gil_was_given_up() -> None:
    """One thread reads a pipe without the GIL; the other one writes it, after two calls of its own."""
    read, write = os.pipe()
    LIBC.read.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    inside = threading.Lock()
    inside.acquire()

    def other() -> None:
        with inside:
            LIBM.cos(0.0)
            LIBM.cos(0.0)
            os.write(write, b"!")

    byte = ctypes.create_string_buffer(1)
    pointer = ctypes.addressof(byte)
    interval = sys.getswitchinterval()
    thread = threading.Thread(target=other)
    with inspector.trace("ctypes") as t:
        thread.start()
        sys.setswitchinterval(1000.0)  # the other one runs when this one lets it
        try:
            inside.release()
            LIBC.read(read, pointer, 1)
        finally:
            sys.setswitchinterval(interval)
            thread.join()
    os.close(read)
    os.close(write)
    released = {one.function: one for one in t.fact.released}
    reading = released["libc.so.6:read"]
    assert (reading.times, reading.site.text) == (1, "LIBC.read(read, pointer, 1)")
    assert list(reading.meanwhile) == [thread.ident]
    assert reading.meanwhile[thread.ident or 0] >= 2
    assert not isinstance(reading.released_ns, Unknown)
    assert released["libm.so.6:cos"].thread == thread.ident
    assert "released ×" in t.tree()


def test_destructors_of_capsules_and_finalizers(specimens: ModuleType) -> None:
    module = specimens.build("border_capsules", CAPSULES)

    class Below(module.Held):  # type: ignore[misc, name-defined]
        pass

    before = module.make(True)
    with restored(), inspector.trace("border_capsules") as t:
        held, plain = module.make(True), module.make(False)
        del plain
        assert module.count() == 0
        del held
        del before
        one, two = module.Held(), Below()
        del one
        del two
        assert module.count() == 202
    ended = [call for call in t.fact.finalized if call.arguments[0].text in ("", "'a number of ours'")]
    told = [(call.name, [(a.type_name, a.text) for a in call.arguments], call.times) for call in ended]
    assert told == [
        ("destructor of a capsule", [("PyCapsule", "'a number of ours'")], 1),
        ("destructor of a capsule", [("PyCapsule", "'a number of ours'")], 1),
        ("border_capsules.Held.tp_finalize", [("border_capsules.Held", "")], 1),
        (f"{__name__}.{Below.__qualname__}.tp_finalize", [(f"{__name__}.{Below.__qualname__}", "")], 1),
    ]
    assert ended[0].site.text == "" or ended[0].site.file == __file__


def test_calls_of_a_second_interpreter_are_not_looked_at() -> None:
    """The pointers are the process's own: its calls pass through them, and leave no record."""
    child = """
import math, inspector
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
with inspector.trace("math", copies=False) as t:
    interpreters.run_string(other, "import math; assert [math.gcd(12, 18) for _ in range(50)] == [6] * 50")
    assert math.gcd(12, 18) == 6
interpreters.destroy(other)
print([(call.name, call.times) for call in t.calls if call.name == "math.gcd"])
"""
    assert printed("-c", child) == "[('math.gcd', 1)]\n"


class Pair(ctypes.Structure):
    """Twelve bytes: a length in elements cannot be taken for one in bytes."""

    _layout_, _pack_ = "ms", 4
    _fields_ = [("whole", ctypes.c_int64), ("half", ctypes.c_int32)]


ONE = ctypes.c_double
KINDS = (ONE, ONE * 4096, ctypes.c_char * 4096, ctypes.c_int16 * 8 * 5, Pair, Pair * 1000)


@pytest.mark.parametrize("make", KINDS)
def test_the_bytes_of_a_ctypes_object_are_those_that_ctypes_counts(make: Callable[[], Any]) -> None:
    held = make()
    with inspector.trace("numpy") as t:
        np.frombuffer(held, "u1")
    (call,) = (call for call in t.calls if call.name.endswith("frombuffer"))
    (span,) = call.arguments[0].spans
    assert (span.address, span.logical_bytes) == (ctypes.addressof(held), ctypes.sizeof(held))


PRIVATE_BIT = r"""
#include <Python.h>
#include <structmember.h>
static PyObject *inner(PyObject *self, PyObject *const *items, size_t counted, PyObject *names) {
    return PyLong_FromSize_t(counted & 0xFFFF);
}
static PyObject *outer(PyObject *self, PyObject *const *items, size_t counted, PyObject *names) {
    return ((vectorcallfunc *)((char *)items[0] + sizeof(PyObject)))[0](
        items[0], items, (size_t)PyVectorcall_NARGS(counted) | (size_t)1 << 62, names);
}
typedef struct { PyObject head; vectorcallfunc call; } callable;
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(callable, call), READONLY}, {0}};
static PyType_Slot slots[] = {{Py_tp_members, members}, {Py_tp_call, PyVectorcall_Call}, {0}};
static PyType_Spec spec = {"privately.callable", sizeof(callable), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "privately", NULL, -1};
PyMODINIT_FUNC PyInit_privately(void) {
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&spec);
    vectorcallfunc calls[] = {inner, outer};
    for (int i = 0; i < 2; i++) {
        callable *one = PyObject_New(callable, (PyTypeObject *)type);
        one->call = calls[i];
        PyModule_AddObject(module, i ? "outer" : "inner", (PyObject *)one);
    }
    return module;
}
"""


def test_a_bit_of_a_librarys_own_beside_the_count_of_arguments(specimens: Any) -> None:
    """As nanobind 3.1 sets when a class calls its constructor: the arguments were looked for far away."""
    made = specimens.build("privately", PRIVATE_BIT)
    with inspector.trace("privately") as t:
        assert made.outer(made.inner, 5, "a") == 3
    (outer,) = t.calls
    (inner,) = outer.calls
    assert [value.text for value in inner.arguments] == [value.text for value in outer.arguments]


BOUND = r"""
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *args) {
    int number;
    return PyArg_ParseTuple(args, "i", &number) ? PyLong_FromLong(2L * number) : NULL;
}
static PyMethodDef row = {"twice", twice, METH_VARARGS, NULL};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "bound_to_a_record", NULL, -1};
PyMODINIT_FUNC PyInit_bound_to_a_record(void) {
    PyObject *module = PyModule_Create(&definition);
    PyObject *record = PyCapsule_New(&row, "a record", NULL), *name = PyModule_GetNameObject(module);
    PyModule_AddObject(module, "twice", PyCFunction_NewEx(&row, record, name));
    return module;
}
"""


def test_the_record_of_a_binding_framework_is_no_argument(specimens: Any) -> None:
    """pybind11 binds its functions to a capsule, which the caller never gave."""
    made = specimens.build("bound_to_a_record", BOUND)
    with inspector.trace("bound_to_a_record") as t:
        made.twice(21)
    (call,) = t.calls
    assert [value.text for value in call.arguments] == ["21"]
    assert "made.twice(21) 21 → 42" in " ".join(t.tree().split())


NAMELESS = """
#include <Python.h>
static PyType_Slot slots[] = {{0, NULL}};
static PyType_Spec spec = {"Nodot", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "nameless", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_nameless(void) {
    PyObject *module = PyModule_Create(&def);
    PyModule_AddObject(module, "Nodot", PyType_FromSpec(&spec));
    return module;
}
"""


@pytest.mark.filterwarnings("ignore:builtin type Nodot has no __module__")
def test_a_type_that_names_no_module_does_not_keep_a_trace_from_beginning(specimens: Any) -> None:
    """Its `__module__` raises AttributeError (PyType_FromSpec of a name without a dot)."""
    module = specimens.build("nameless", NAMELESS)
    with pytest.raises(AttributeError):
        _ = module.Nodot.__module__
    with inspector.trace("nameless") as trace:
        one = module.Nodot()
    assert [call.function for call in trace.fact.calls] in ([], ["nameless.Nodot"])
    assert inspector.inspect(one).facts["object"].type_name.endswith("Nodot")
