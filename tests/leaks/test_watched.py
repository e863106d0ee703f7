"""A module that was asked for and not watched is an error with its reason, never "no fault was found"."""

# SPDX-License-Identifier: MIT
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import specimens
from apart import ran
from leak_corpus import SOURCE
from refused import refused

import inspector

pytestmark = pytest.mark.core
NESTED = r"""
#include <Python.h>
static PyObject *lose(PyObject *self, PyObject *unused) { return PyBool_FromLong(PyList_New(0) != NULL); }
static PyMethodDef methods[] = {{"lose", lose, METH_NOARGS, NULL}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "nested", NULL, -1, methods};
PyMODINIT_FUNC PyInit_nested(void) {
    PyObject *other = PyImport_ImportModule("_decimal"); // an extension that nobody imported yet
    Py_XDECREF(other);
    return PyModule_Create(&definition);
}
"""
ABSENT = "was never imported"
UNHOOKED = {
    "pass": ABSENT,
    "import json as leak_corpus": ABSENT,
    "import os; os.fork() or (__import__('leak_corpus').capsule_lost(1), os._exit(0)); os.wait()": ABSENT,
    "import importlib; b = importlib._bootstrap; b._find_and_load = saved[0]\n"
    "importlib.machinery.ExtensionFileLoader.create_module = saved[1]\n"
    "import leak_corpus; leak_corpus.capsule_lost(1)": "past Python's import system",
    "import importlib.util as u, sys\ns = u.spec_from_file_location('apart.leak_corpus', path); "
    "m = u.module_from_spec(s); s.loader.exec_module(m); m.capsule_lost(1)": ABSENT,
    "import leak_corpus\nfrom inspector import _native; _native.calls_disarm(); _native.got_disarm()\n"
    "leak_corpus.capsule_lost(1)": "put its hooks back",
    "import leak_corpus": "none was used",
    "import os, leak_corpus; leak_corpus.capsule_lost(1); os._exit(0)": "left by os._exit(0)",
}
SAVED = """
import builtins, importlib, importlib.machinery
builtins.saved = importlib._bootstrap._find_and_load, importlib.machinery.ExtensionFileLoader.create_module
"""


def watched(folder: Path, name: str, source: str, program: str) -> tuple[int, str, str]:
    library = specimens.library(name, source)
    (folder / library.name).symlink_to(library)
    (folder / "app.py").write_text(f"path = {str(library)!r}\n{program}\n")
    (folder / "sitecustomize.py").write_text(SAVED)  # before anything is hooked
    done = ran("-m", "inspector", "leaks", "--of", name, "app.py", cwd=folder, PYTHONPATH=str(folder))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.quick
def test_a_module_whose_body_imports_another_extension_is_watched(tmp_path: Path) -> None:
    code, told, _ = watched(tmp_path, "nested", NESTED, "import nested\nnested.lose()")
    assert "nested.lose loses a reference: the list that PyList_New" in " ".join(told.split())
    assert code == 1
    assert "nested: 1 function called 1x" in told


def test_a_module_with_a_class_of_its_own_is_watched_and_that_class_runs_nothing() -> None:
    """apsw's is one; type(module) is not the module type."""

    class Own(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    module = specimens.build("nested", NESTED)
    lose = module.lose
    module.__class__ = Own
    try:
        with inspector.leaks("nested") as found:
            lose()
    finally:
        object.__setattr__(module, "__class__", ModuleType)
    assert [one.method for one in found] == ["nested.lose"]


def test_a_module_that_works_while_another_is_imported_is_watched(tmp_path: Path) -> None:
    (tmp_path / "works.py").write_text("import leak_corpus\nleak_corpus.capsule_lost(1)\n")
    code, told, _ = watched(tmp_path, "leak_corpus", SOURCE, "import works")
    assert code == 1 and "leak_corpus.capsule_lost" in told


def test_a_package_that_comes_later_is_watched_where_none_is_named(tmp_path: Path) -> None:
    """ctypes was there already; so only its own import slots were hooked, and those of none that came."""
    body = NESTED.replace("return PyModule_Create", "PyList_New(0);\n    return PyModule_Create")
    library = specimens.library("nested", body)
    (tmp_path / library.name).symlink_to(library)
    program = "import ctypes, inspector\nwith inspector.leaks() as found:\n    import nested\n"
    (tmp_path / "app.py").write_text(f"{program}print(found.report.to_text())\n")
    told = ran("app.py", cwd=tmp_path, PYTHONPATH=str(tmp_path)).stdout
    assert "possible, from module imports" in told


@pytest.mark.parametrize("way", UNHOOKED)
def test_what_is_not_watched_is_an_error_with_its_reason(tmp_path: Path, way: str) -> None:
    code, told, refused_with = watched(tmp_path, "leak_corpus", SOURCE, way)
    assert code == 2 and UNHOOKED[way] in refused_with and "No fault was found" not in told, (
        told + refused_with
    )


def test_a_block_and_a_run_refuse_too() -> None:
    with refused("not-watched", "no native code"), inspector.leaks("colorsys"):
        import colorsys  # noqa: F401
    with refused("not-watched", "no native code"), inspector.leaks("netrc"):  # has an exception of its own
        import netrc  # noqa: F401
    with refused("not-watched", "never imported"):
        inspector.leaks("xmlrpc").run(lambda: None)
    with pytest.raises(ZeroDivisionError), inspector.leaks("antigravity"):
        raise ZeroDivisionError  # what the code raises comes first


def test_a_session_of_pytest_that_calls_nothing_of_the_module_fails(tmp_path: Path) -> None:
    library = specimens.library("leak_corpus", SOURCE)
    (tmp_path / library.name).symlink_to(library)
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--inspect-leaks", "leak_corpus")
    done = ran(*words, cwd=tmp_path)
    assert done.returncode == 4 and "1 passed" in done.stdout and ABSENT in done.stdout
    (tmp_path / "test_it.py").write_text(
        "import leak_corpus\ndef test_one():\n    leak_corpus.tuple_set_item(1)\ndef test_two():\n    pass\n"
    )
    assert ran(*words, cwd=tmp_path).returncode == 0


def test_the_report_counts_what_was_called() -> None:
    corpus = specimens.build("leak_corpus", SOURCE)
    with inspector.leaks("leak_corpus") as found:
        corpus.tuple_set_item(1)
        corpus.tuple_set_item(1)
    (one,) = json.loads(found.report.to_json())["facts"]["leaks"]["watched"]
    assert one["calls"] == 2 and one["functions"] >= 40 and one["uses"] >= 2 and one["why"] == ""


def test_functions_of_a_module_that_its_c_calls_otherwise_are_watched() -> None:
    """As websockets' C does, which says "websocket.speedups"."""
    module = specimens.build("nested", NESTED.replace('"nested", NULL', '"other.nested", NULL'))
    assert module.lose.__module__ == "other.nested"
    with inspector.leaks("nested") as found:
        module.lose()
    assert [one.kind for one in found.certain] == ["leaked"]


MAKES = """
#include <Python.h>
static PyObject *keep(PyObject *self, PyObject *x) {
    volatile PyObject *kept = x;
    Py_INCREF((PyObject *)kept); // fault
    Py_RETURN_NONE;
}
static PyMethodDef of_made[] = {{"keep", keep, METH_O, NULL}, {0}}, late = {"late", keep, METH_O, NULL};
static PyType_Slot slots[] = {{Py_tp_methods, of_made}, {0}};
static PyType_Spec spec = {"makes.Made", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static PyObject *type(PyObject *self, PyObject *unused) { return PyType_FromSpec(&spec); }
static PyObject *function(PyObject *self, PyObject *unused) { return PyCFunction_New(&late, NULL); }
"""


def test_what_is_made_meanwhile_is_told_as_not_watched() -> None:
    module = specimens.build("makes", MAKES)
    for use in (lambda: module.type()().keep([]), lambda: module.function()([])):
        with inspector.leaks("makes") as found:
            use()
        assert re.search(
            "of 1 call; 1 type or function was (not watched: .*keep|made meanwhile)", repr(found)
        )
        assert not found.report.facts["answers"].rows[0].certain
    made = module.type()
    with inspector.leaks("makes") as found:
        made().keep([])
    assert [one.method for one in found.certain] == ["makes.Made.keep"]


HIDDEN = r"""
#include <Python.h>
#include <structmember.h>
typedef struct { PyObject_HEAD vectorcallfunc called; } one;
static PyObject *call(PyObject *self, PyObject *const *items, size_t count, PyObject *names) {
    Py_INCREF(items[0]); // fault
    Py_RETURN_NONE;
}
static PyObject *new_one(PyTypeObject *type, PyObject *args, PyObject *names) {
    PyObject *made = type->tp_alloc(type, 0);
    ((one *)made)->called = call;
    return made;
}
static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(one, called), READONLY}, {0}};
static PyType_Slot slots[] = {
    {Py_tp_new, new_one}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_members, members}, {0}};
static PyType_Spec Called_type = {
    "hidden.Called", sizeof(one), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
static PyObject *keep(PyObject *self, PyObject *x) {
    Py_INCREF(x); // fault
    Py_RETURN_NONE;
}
static PyMethodDef kept = {"kept", keep, METH_O, NULL};
static PyObject *out_of_sight(PyObject *self, PyObject *unused) { return PyCFunction_New(&kept, NULL); }
static PyObject *nothing(PyObject *self, PyObject *unused) { Py_RETURN_NONE; }
"""

PARTLY = {
    "makes.type()().keep([])": "made while the code ran",
    "makes.function()([])": "made while the code ran",
    "table = {'one': makes.function()}; table['one']([])": "no hook reaches late",
    "hidden.Called()([])": "no hook reaches hidden.Called",
    "table = {'one': hidden.out_of_sight()}; table['one']([])": "no hook reaches kept",
}


@pytest.mark.parametrize("way", PARTLY)
def test_what_no_hook_reaches_is_an_error_beside_calls_that_were_watched(tmp_path: Path, way: str) -> None:
    name, source = ("hidden", HIDDEN) if "hidden" in way else ("makes", MAKES)
    code, told, refused_with = watched(tmp_path, name, source, f"import {name}\n{way}")
    assert code == 2 and PARTLY[way] in refused_with and "not watched" in " ".join(told.split()), told


def test_what_lives_by_then_is_watched_though_no_module_shows_it() -> None:
    module = specimens.build("hidden", HIDDEN)
    table = {"one": module.out_of_sight(), "two": module.Called()}
    for _ in range(2):
        with inspector.leaks("hidden") as found:
            table["one"]([])
            table["two"]([])
            module.nothing()
        assert sorted(one.method for one in found.certain) == ["hidden.Called", "hidden.kept"]
        assert not found.fact.watched[0].unhooked


def test_what_no_module_shows_has_the_name_of_the_module_whose_file_it_is_in() -> None:
    specimens.imported("boxed.nested", specimens.library("nested", NESTED))
    module = specimens.imported("boxed.of.hidden", specimens.library("hidden", HIDDEN))
    function = module.out_of_sight()
    with inspector.leaks("boxed") as found:
        function([])
    assert [one.method for one in found.certain] == ["boxed.of.hidden.kept"]
    del sys.modules["boxed.nested"], sys.modules["boxed.of.hidden"]


def test_what_no_module_shows_is_not_held_after_the_block() -> None:
    module = specimens.build("hidden", HIDDEN)
    table = [module.out_of_sight()]
    before = sys.getrefcount(table[0])
    with inspector.leaks("hidden") as found:
        table[0]([])
    after = sys.getrefcount(table[0])
    assert found.certain and after == before


APART = """
#include <Python.h>
static PyObject *lose(PyObject *self, PyObject *unused) {
    PyList_New(0); // fault
    Py_RETURN_NONE;
}
"""


def test_a_library_whose_module_stands_in_no_table_is_watched() -> None:
    """As torch's load_inline leaves it: without its slots a list of another library's was accused."""
    module = specimens.build("leaks_apart", APART)
    sys.modules.pop("leaks_apart")
    with inspector.leaks() as found:
        module.lose()
    (one,) = [one for one in found if one.kind == "leaked"]
    assert one.object.startswith("list") and one.conversion.symbol == "lose"
    assert one.conversion.source == f"leaks_apart.c:{specimens.line_of(APART, 'lose')}"


PYBIND11 = r"""
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
namespace py = pybind11;
struct Box {
    double x;
    explicit Box(double x) : x(x) {}
    Box operator+(const Box &other) const { return Box(x + other.x); }
};
PYBIND11_MODULE(of_pybind11, m) {
    py::class_<Box>(m, "Box").def(py::init<double>()).def(py::self + py::self).def_readwrite("x", &Box::x)
        .def("lose", [](const Box &, py::object given) { given.inc_ref(); });
    m.def("late", [] { return py::cpp_function([](py::object given) { return given; }); });
}
"""


def test_methods_and_properties_of_pybind11_are_watched() -> None:
    pybind11 = pytest.importorskip("pybind11")
    compiler = ("g++", "-O1", "-g", "-shared", "-fPIC", "-std=c++17", f"-I{pybind11.get_include()}")
    library = specimens.compiled(compiler, "of_pybind11", (PYBIND11,), ".cpp")
    module = specimens.imported("of_pybind11", library)
    with inspector.leaks("of_pybind11") as found:
        box = module.Box(1)
        (box + box).x = 3.0
    assert repr(found) == "<leaks: No fault was found in the references of 5 calls.>"
    with inspector.leaks("of_pybind11") as found:
        box.lose([])
    assert [one.method for one in found.certain] == ["of_pybind11.Box.lose"]
    with inspector.leaks("of_pybind11") as found:
        late = module.late()
        late([])
    assert "1 type or function was not watched: a function without a name" in repr(found)


HOMELESS = """
#include <Python.h>
typedef struct { PyObject_HEAD PyObject *held; } one;
static PyObject *held_of(PyObject *me, void *unused) { return PyBool_FromLong(((one *)me)->held != NULL); }
static PyObject *call(PyObject *me, PyObject *args, PyObject *names) {
    PyObject *volatile first = PyTuple_GET_ITEM(args, 0);
    Py_INCREF((PyObject *)first); // fault
    Py_RETURN_NONE;
}
static PyGetSetDef getset[] = {{"held", held_of, NULL, NULL, NULL}, {0}};
static PyType_Slot slots[] = {{Py_tp_getset, getset}, {Py_tp_call, call}, {0}};
static PyType_Spec Called_type = {
    "_inner.Called", sizeof(one), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
static PyObject *nothing(PyObject *self, PyObject *unused) { Py_RETURN_NONE; }
"""


def test_a_type_whose_name_names_no_module_is_of_the_one_that_shows_it() -> None:
    """As `_wrappers.PartialCallableObjectProxy` of wrapt: a heap type without methods."""
    module = specimens.build("homeless", HOMELESS)
    made = type("Made", (module.Called,), {})()
    with inspector.leaks("homeless") as found:
        module.Called()([])
        made([])
    (one,) = json.loads(found.report.to_json())["facts"]["leaks"]["watched"]
    assert one["calls"] >= 2 and not one["unhooked"]
    assert found.certain
