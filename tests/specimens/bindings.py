"""Extension modules made by pybind11, nanobind and Cython, built once for each release and content."""

# SPDX-License-Identifier: MIT
import functools
import importlib
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

import leaks_of_bindings
import specimens

CPP = ("g++", "-O0", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-w")
C = ("gcc", "-O0", "-shared", "-fPIC", "-w")
OPTIMIZED = (*CPP[:1], "-g", "-O1", *CPP[2:])
PYBIND11 = """
#include <pybind11/chrono.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
namespace py = pybind11;
struct Box { int n; explicit Box(int n) : n(n) {} };
struct Shared { double d = 1.5; };
struct Keeper { explicit Keeper(py::object) {} };
struct Holder { py::object held; };
static Box the_box(7);
static auto *cache = new std::map<Holder *, py::object>;
PYBIND11_MODULE(made_by_pybind11, m) {
  py::class_<Box>(m, "Box").def(py::init<int>()).def_readwrite("n", &Box::n);
  py::class_<Shared, std::shared_ptr<Shared>>(m, "Shared").def(py::init<>());
  py::class_<Keeper>(m, "Keeper").def(py::init<py::object>(), py::keep_alive<1, 2>());
  py::class_<Holder>(m, "Holder").def(py::init<>()).def_readwrite("held", &Holder::held);
  m.def("cached", [](py::object holder) { (*cache)[py::cast<Holder *>(holder)] = holder; });
  m.def("later", [](int n, py::object o) { return n; }, py::arg("n"), py::arg("o") = std::chrono::seconds(7));
  m.def("later", [](bool b, py::object o) { return b;}, py::arg("b"), py::arg("o") = std::chrono::seconds(8));
  m.def("the_box", [] { return &the_box; }, py::return_value_policy::reference);
  m.def("address", [](Box &box) { return (size_t)&box; });
  m.def("add", [](int a, int b) { return a + b; });
  m.def("doubles", [](py::array_t<double> x) { return x; });
  m.def("total", [](std::vector<double> v) { double sum = 0; for (double d : v) sum += d; return sum; });
}
"""
NANOBIND = """
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
namespace nb = nanobind;
struct Box { int n; explicit Box(int n) : n(n) {} };
struct Keeper { explicit Keeper(nb::object) {} };
struct Holder { nb::object held; };
static Box the_box(7);
NB_MODULE(made_by_nanobind, m) {
  nb::class_<Box>(m, "Box").def(nb::init<int>()).def_rw("n", &Box::n);
  nb::class_<Keeper>(m, "Keeper").def(nb::init<nb::object>(), nb::keep_alive<1, 2>());
  nb::class_<Holder>(m, "Holder").def(nb::init<>()).def_rw("held", &Holder::held);
  m.def("the_box", [] { return &the_box; }, nb::rv_policy::reference);
  m.def("address", [](Box &box) { return (size_t)&box; });
  m.def("add", [](int a, int b) { return a + b; });
  m.def("same", [](nb::ndarray<nb::numpy, double, nb::ndim<1>> x) { return x; });
}
"""
CYTHON = """
cdef class Keeper:
    cdef double[:] kept
    def __init__(self, double[:] x): self.kept = x
    def give(self): return self.kept
def rows(double[:, :] x): return x[::2]
def part(double[:] x): return x[1:3]
def add(int a, int b): return a + b
def packed(double[:] x): return x.copy()
"""
CYTHON_NUMPY = """
cimport numpy as cnp
cnp.import_array()
def fresh(int count):
    cdef cnp.npy_intp shape = count
    return cnp.PyArray_SimpleNew(1, &shape, cnp.NPY_DOUBLE)
def copied(cnp.ndarray x): return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
def turned(cnp.ndarray x): return cnp.PyArray_Transpose(x, NULL)
def total(cnp.ndarray[double, ndim=1] x):
    cdef double sum = 0
    for i in range(x.shape[0]): sum += x[i]
    return sum
"""


STEPPED = {
    ".pyx": """def doubled(list values):
    cdef double total = 0
    for value in values:
        total += value
    return 2 * total

cdef class Sum:
    cdef double total
    def __init__(self, double first):
        cdef double half = first / 2
        self.total = half
""",
    ".cpp": """#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
namespace py = pybind11;
double halved(double value) {
    double half = value / 2;
    return half;
}
struct Box {
    int n;
    explicit Box(int n) : n(n) {}
    int grown(int by) { return n += by; }
};
extern "C" __attribute__((visibility("default"))) int plain(int a) { return a + 1; }
PYBIND11_MODULE(stepped_cpp, m) {
    py::class_<Box>(m, "Box").def(py::init<int>()).def("grown", &Box::grown);
    m.def("halved", &halved);
    m.def("filled", [](py::array_t<double> x, double first) {
        double *values = x.mutable_data();
        for (int i = 0; i < x.size(); i++)
            values[i] = first + i;
        return values[0];
    });
}
""",
}
"""Of `stepped`: functions whose lines a debugger shows."""
STEPPED_NANOBIND = """#include <nanobind/nanobind.h>
namespace nb = nanobind;
struct Bin {
    int n;
    explicit Bin(int n) : n(n) {}
    int grown(int by) { return n += by; }
};
int added(int a, int b) { return a + b; }
NB_MODULE(stepped_nanobind, m) {
    m.def("added", &added);
    m.def("twice", [](int a) { return 2 * a; });
    nb::class_<Bin>(m, "Bin").def(nb::init<int>()).def("grown", &Bin::grown);
}
"""
MADE = {"pybind11": PYBIND11, "nanobind": NANOBIND, "cython": CYTHON, "cython_numpy": CYTHON_NUMPY}


@functools.cache
def made_by(binding: str) -> ModuleType:
    """The module `made_by_BINDING` of the text in MADE."""
    return _bound(f"made_by_{binding}", binding, MADE[binding], CPP, C)


@functools.cache
def leaks_of(binding: str) -> ModuleType:
    """Faults and their honest twins: leaks_of_bindings.py has the table."""
    return _bound(
        f"leaks_of_{binding}", binding, leaks_of_bindings.source(binding), OPTIMIZED, (*C, "-g", "-O1")
    )


def stepped(folder: Path) -> None:
    """Make `stepped_pyx` by Cython and `stepped_cpp` by pybind11, with lines, beside their sources."""
    source = folder / "stepped_pyx.pyx"
    source.write_text(STEPPED[".pyx"])
    command = [sys.executable, "-m", "cython", "-3", "--line-directives", source.name]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    (folder / "stepped_cpp.cpp").write_text(STEPPED[".cpp"])
    include = [f"-I{sysconfig.get_path('include')}", f"-I{importlib.import_module('pybind11').get_include()}"]
    for command, name in ((C, "stepped_pyx.c"), (CPP, "stepped_cpp.cpp")):
        library = name.partition(".")[0] + sysconfig.get_config_var("EXT_SUFFIX")
        subprocess.run([*command, "-g", *include, name, "-o", library], check=True, cwd=folder)


def _bound(name: str, binding: str, text: str, cpp: tuple[str, ...], c: tuple[str, ...]) -> ModuleType:
    """The module of a binding's text; its library is there."""
    if binding == "pybind11":
        return _made(name, text, ".cpp", (*cpp, f"-I{importlib.import_module(binding).get_include()}"))
    if binding == "nanobind":
        return specimens.imported(name, with_nanobind(name, text, cpp))
    if binding == "cython_numpy":
        c = (*c, f"-I{importlib.import_module('numpy').get_include()}")
    return _made(name, text if binding == "stable_abi" else _in_c(name, text), ".c", c)


def with_nanobind(name: str, text: str, cpp: tuple[str, ...] = (*CPP, "-g")) -> Path:
    """The library of a module's text."""
    home = Path(str(importlib.import_module("nanobind").__file__)).parent
    include = (f"-I{home / 'include'}", f"-I{home / 'ext' / 'robin_map' / 'include'}")
    own = f'#include "{home / "src" / "nb_combined.cpp"}"\n'
    command = (*cpp, "-fno-strict-aliasing", *include)
    return specimens.compiled(command, name, (f"{text}\n{own}",), ".cpp")


def _in_c(name: str, text: str) -> str:
    """What Cython makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{name}.pyx"
        source.write_text(text)
        command = [sys.executable, "-m", "cython", "-3", str(source)]
        subprocess.run(command, check=True, capture_output=True)
        return source.with_suffix(".c").read_text().replace(folder, "")


def _made(name: str, source: str, suffix: str, compiler: tuple[str, ...]) -> ModuleType:
    return specimens.imported(name, specimens.compiled(compiler, name, (source,), suffix))
