"""The own lines of hosts in C, in C++ with pybind11's embed.h, and in Rust: which line led to each call."""

# SPDX-License-Identifier: MIT
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import hosts
import pytest

from inspector.report import Report
from inspector.sessions import leaks_launched
from inspector.sessions.trace_launched import launch

pytestmark = hosts.shared_library
C = """
#include <Python.h>
static PyObject *number(long i) { return PyLong_FromLong(i); }
int main(void) {
    Py_Initialize();
    PyObject *a = number(1000); // PyLong_FromLong
    PyObject *b = number(2000); // PyLong_FromLong
    PyObject *sum = PyNumber_Add(a, b); // PyNumber_Add
    unsigned long lost = PyLong_AsUnsignedLongMask(number(-1)); // PyLong_AsUnsignedLongMask PyLong_FromLong
    Py_DecRef(sum); // Py_DecRef
    return lost == 1;
}
"""
CPP = """
#include <pybind11/embed.h>
namespace py = pybind11;
int main() {
    py::scoped_interpreter python;
    py::object math = py::module_::import("math"); // PyImport_ImportModule
    py::list values; // PyList_New
    values.append(math.attr("pi")); // PyObject_GetAttrString PyList_Append
    return (int)py::len(values) - 1; // PyObject_Size
}
"""
RUST = """
use std::os::raw::{c_long, c_void};
extern "C" {
    fn Py_Initialize();
    fn PyLong_FromLong(value: c_long) -> *mut c_void;
    fn PyNumber_Add(a: *mut c_void, b: *mut c_void) -> *mut c_void;
    fn Py_DecRef(x: *mut c_void);
}
struct Object(*mut c_void);
impl Drop for Object {
    fn drop(&mut self) {
        unsafe { Py_DecRef(self.0) }
    }
}
fn number(value: i64) -> Object {
    Object(unsafe { PyLong_FromLong(value) })
}
fn main() {
    unsafe { Py_Initialize() };
    let a = number(1000); // PyLong_FromLong
    let b = number(2000); // PyLong_FromLong
    let sum = Object(unsafe { PyNumber_Add(a.0, b.0) }); // PyNumber_Add
    drop(sum); // Py_DecRef
    drop(a); // Py_DecRef
    std::mem::forget(b);
    println!("no call in the last place, which would leave no frame of main");
}
"""

LANGUAGES = {"c": C, "cpp": CPP, "rs": RUST}


def built(folder: Path, language: str) -> list[str]:
    """The program, with debug information."""
    found = sysconfig.get_config_var("LIBDIR")
    python = [f"-L{found}", f"-lpython{sysconfig.get_config_var('LDVERSION')}"]
    headers = f"-I{sysconfig.get_path('include')}"
    path = folder / f"host.{language}"
    path.write_text(LANGUAGES[language])
    if language == "rs":
        compiler, *words = "rustc", "-g", "-O", *python, f"-Clink-arg=-Wl,-rpath,{found}"
    else:
        compiler = {"c": "gcc", "cpp": "g++"}[language]
        words = ["-g", "-O1", headers, f"-Wl,-rpath,{found}"]
    if language == "cpp":
        pybind11 = pytest.importorskip("pybind11", reason="not installed in this room: pybind11")
        words += ["-std=c++17", f"-I{pybind11.get_include()}"]
    if shutil.which(compiler) is None:
        pytest.skip(f"not on this machine: {compiler}")
    command = [compiler, *words, str(path), "-o", str(folder / "host"), *(python if language != "rs" else ())]
    subprocess.run(command, check=True)
    return [str(folder / "host")]


@pytest.mark.parametrize("language", ["c", pytest.param("cpp", marks=pytest.mark.libraries), "rs"])
def test_each_call_has_the_line_that_led_to_it(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also through functions that wrap calls, through headers, and where all is inlined."""
    command = built(tmp_path, language)
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)
    report = launch(command, quiet=True).trace.report
    hosted = report.trace.hosted
    written = (tmp_path / f"host.{language}").read_text().splitlines()
    wanted = {
        at: set(line.partition("// ")[2].split()) for at, line in enumerate(written, 1) if "// " in line
    }
    found: dict[int, set[str]] = {}
    for call in hosted.calls:
        line = getattr(call.site, "line", 0)
        if line in wanted:
            assert call.site.text == written[line - 1].strip()
            found.setdefault(line, set()).add(call.function)
    assert found.keys() == wanted.keys() and all(found[at] >= names for at, names in wanted.items())
    assert {path for path, *_ in hosted.own_lines} == {str(tmp_path / f"host.{language}")}
    text = str(report)
    assert (
        f"from {len(hosted.own_lines)} lines" in text
        and "dlopen" not in report.drawn(everything=True).to_text()
    )
    assert ("LOST  -1 became" in text) == (language == "c")
    assert "No call into native code" not in text
    lost = "1 value lost, the first in line 9: -1 became 1844"
    assert (lost in " ".join(text.split())) == (language == "c")


def test_a_stripped_host_has_no_lines_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = built(tmp_path, "c")
    subprocess.run(["strip", *command], check=True)
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)
    hosted = launch(command, quiet=True).trace.hosted
    assert hosted.calls and not hosted.own_lines
    assert "compile it with -g" in str(hosted.calls[0].site) and "PyNumber_Add" in str(
        Report("x", {"h": hosted})
    )


COPIES = """
#include <Python.h>
int main(void) {
    Py_Initialize();
    PyObject *np = PyImport_ImportModule("numpy");
    PyObject *a = PyObject_CallMethod(np, "array", "([iii])", 1, 2, 3);
    PyObject *b = PyObject_CallMethod(a, "copy", NULL);
    printf("%ld\\n", (long)PyObject_Size(b));
    return 0;
}
"""


def test_a_copy_that_no_line_of_python_made_is_in_the_line_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numpy = pytest.importorskip("numpy", reason="not installed in this room: numpy")
    monkeypatch.setitem(LANGUAGES, "c", COPIES)
    command = built(tmp_path, "c")
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)
    monkeypatch.setenv("PYTHONPATH", str(Path(numpy.__file__).parents[1]))
    report = launch(command, quiet=True).trace.report
    places = {(one.site.file, one.site.line): one.site.text for one in report.trace.copies}
    lines = (tmp_path / "host.c").read_text().splitlines()
    path = str(tmp_path / "host.c")
    assert places.items() >= {((path, at), lines[at - 1].strip()) for at in (6, 7)}
    assert "48 B copied by 2 calls from 2 lines." in str(report) and len(str(report).splitlines()) <= 24


REUSED = """
#include <Python.h>
int main(void) {
    Py_Initialize();
    Py_DecRef(PyDict_New());
    PyObject *list = PyList_New(1);
    PyList_SetItem(list, 0, PyLong_FromLong(1000));
    Py_DecRef(PyObject_Repr(list));
    Py_DecRef(list);
    return 0;
}
"""


def test_the_dict_of_a_thread_where_another_dict_was_is_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repr of a list makes a dict of the thread's, in the block of the one that the host gave back."""
    monkeypatch.setitem(LANGUAGES, "c", REUSED)
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)
    judged = leaks_launched.launch(built(tmp_path, "c"), quiet=True)
    assert (judged.code, [one.object for one in judged.fact if one.certain]) == (0, [])
