"""Extension modules made by pybind11, nanobind and Cython, built once for each release and content."""

# SPDX-License-Identifier: MIT
import functools
import hashlib
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
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
namespace py = pybind11;
struct Box { int n; explicit Box(int n) : n(n) {} };
struct Shared { double d = 1.5; };
struct Keeper { explicit Keeper(py::object) {} };
static Box the_box(7);
PYBIND11_MODULE(made_by_pybind11, m) {
  py::class_<Box>(m, "Box").def(py::init<int>()).def_readwrite("n", &Box::n);
  py::class_<Shared, std::shared_ptr<Shared>>(m, "Shared").def(py::init<>());
  py::class_<Keeper>(m, "Keeper").def(py::init<py::object>(), py::keep_alive<1, 2>());
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
static Box the_box(7);
NB_MODULE(made_by_nanobind, m) {
  nb::class_<Box>(m, "Box").def(nb::init<int>()).def_rw("n", &Box::n);
  nb::class_<Keeper>(m, "Keeper").def(nb::init<nb::object>(), nb::keep_alive<1, 2>());
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


@functools.cache
def made_by_pybind11() -> ModuleType:
    """Box, Shared, Keeper; the_box() by reference; address(box); add; doubles(array), total(list)."""
    import pybind11

    return _made("made_by_pybind11", PYBIND11, ".cpp", (*CPP, f"-I{pybind11.get_include()}"))


@functools.cache
def made_by_nanobind() -> ModuleType:
    """Box, Keeper; the_box() by reference; address(box); add, same (of an array)."""
    include, core = _nanobind()
    return _made("made_by_nanobind", f"{NANOBIND}\n{core}", ".cpp", (*CPP, *include))


@functools.cache
def made_by_cython() -> ModuleType:
    """Keeper(x).give(), rows(x), part(x), packed(x): typed memoryviews handed to Python; add(a, b)."""
    return _made("made_by_cython", _in_c("made_by_cython", CYTHON), ".c", C)


@functools.cache
def made_by_cython_numpy() -> ModuleType:
    """By `cimport numpy`: fresh(count), copied(x), turned(x), total(x)."""
    import numpy

    text = _in_c("made_by_cython_numpy", CYTHON_NUMPY)
    return _made("made_by_cython_numpy", text, ".c", (*C, f"-I{numpy.get_include()}"))


@functools.cache
def leaks_of_pybind11() -> ModuleType:
    """Faults and their honest twins: leaks_of_bindings.py has the table; so have the next three."""
    import pybind11

    return _leaks_of("pybind11", ".cpp", (*OPTIMIZED, f"-I{pybind11.get_include()}"))


@functools.cache
def leaks_of_nanobind() -> ModuleType:
    include, core = _nanobind()
    return _leaks_of("nanobind", ".cpp", (*OPTIMIZED, *include), core)


@functools.cache
def leaks_of_cython() -> ModuleType:
    text = leaks_of_bindings.source("cython")
    return _made("leaks_of_cython", _in_c("leaks_of_cython", text), ".c", (*C, "-g", "-O1"))


@functools.cache
def leaks_of_stable_abi() -> ModuleType:
    return _leaks_of("stable_abi", ".c", (*C, "-g", "-O1"))


def _nanobind() -> tuple[tuple[str, ...], str]:
    """Flags of the compiler, and the line that brings nanobind's own code."""
    import nanobind

    home = Path(nanobind.__file__).parent
    include = (f"-I{home / 'include'}", f"-I{home / 'ext' / 'robin_map' / 'include'}")
    return ("-fno-strict-aliasing", *include), f'#include "{home / "src" / "nb_combined.cpp"}"\n'


def _leaks_of(binding: str, suffix: str, compiler: tuple[str, ...], after: str = "") -> ModuleType:
    return _made(f"leaks_of_{binding}", f"{leaks_of_bindings.source(binding)}\n{after}", suffix, compiler)


def _in_c(name: str, text: str) -> str:
    """What Cython makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{name}.pyx"
        source.write_text(text)
        command = [sys.executable, "-m", "cython", "-3", str(source)]
        subprocess.run(command, check=True, capture_output=True)
        return source.with_suffix(".c").read_text().replace(folder, "")


def _made(name: str, source: str, suffix: str, compiler: tuple[str, ...]) -> ModuleType:
    command = [*compiler, f"-I{sysconfig.get_path('include')}"]
    key = hashlib.sha256("\0".join([*command, sys.version, source]).encode()).hexdigest()[:16]
    path = specimens._cache() / key / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.parent / (name + suffix)
        file.write_text(source)
        unfinished = path.with_suffix(".unfinished")
        made = subprocess.run([*command, str(file), "-o", str(unfinished)], capture_output=True, text=True)
        if made.returncode:
            raise RuntimeError(f"{name} does not compile:\n{made.stderr}")
        unfinished.replace(path)
    return specimens.imported(name, path)
