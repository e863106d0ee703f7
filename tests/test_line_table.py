"""Lines of C++ whose headers were inlined: the line of the source is told, as addr2line -i lists it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import bindings
import pytest

import inspector
from inspector.line_program import rows_of
from inspector.line_table import source_line

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
#line 1 "outer.hpp"
template <class Function> __attribute__((always_inline)) inline PyObject *called(Function function) {
  return function();
}
#line 1 "maker.hpp"
__attribute__((always_inline)) inline PyObject *made(long size) { return PyList_New(size); }
#line 1 "inlining.cpp"
static PyObject *forget(PyObject *self, PyObject *size) {
  auto lambda = [size]() {
    return made(PyLong_AsLong(size));
  };
  called(lambda);
  Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"forget", forget, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "inlining", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_inlining() { return PyModule_Create(&definition); }
"""


def made(optimized: str) -> Any:
    return bindings._made("inlining", SOURCE, ".cpp", (*bindings.CPP, "-g", optimized))


@pytest.mark.parametrize("optimized", ["-O0", "-O2"])
def test_a_header_that_a_lambda_calls_is_told_by_the_line_of_the_source(optimized: str) -> None:
    """The outermost inlined call stands in a header too: the library called the lambda."""
    inlining = made(optimized)
    with inspector.leaks("inlining") as found:
        inlining.forget(5)
    (one,) = found.certain
    assert one.conversion.source == "inlining.cpp:3"


def test_each_row_is_where_binutils_puts_it() -> None:
    """Every address that a line program tells of, against another reader of DWARF."""
    addr2line = shutil.which("addr2line")
    if addr2line is None:
        pytest.skip("no binutils")
    library = Path(made("-O2").__file__)
    addresses = _addresses(library)
    out = subprocess.run([addr2line, "-e", library, *map(hex, addresses)], capture_output=True, text=True)
    theirs = [re.sub(r" \(.*", "", line).rpartition("/")[2] for line in out.stdout.splitlines()]
    ours = [str(source_line(str(library), address)) for address in addresses]
    assert len(addresses) > 10
    in_source = [(a, b) for a, b in zip(theirs, ours, strict=True) if a.startswith("inlining.cpp")]
    assert [b for _, b in in_source] == [a for a, _ in in_source]


def _addresses(library: Path) -> list[int]:
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as stream:
        dwarf = ELFFile(stream).get_dwarf_info()
        programs = [dwarf.line_program_for_CU(unit) for unit in dwarf.iter_CUs()]
        return [row[0] for program in programs for row in rows_of(program) if row[2]]
