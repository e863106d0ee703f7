"""Questions about C code from public issue trackers: the first lines name the function, the line, the change.

Each cell of C is compiled and run in a process of its own, which a fault may end.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick
ROWS, COLUMNS = 24, 80
SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "inspector")
*before, last = open(sys.argv[1]).read().split("\\n---\\n")
for cell in before:
    shell.run_cell(cell, store_history=True)
print("\\nTYPED", flush=True)
shell.run_cell(last, store_history=True)
"""
MODULE = """%%inspect_c
{body}
PyMethodDef methods[] = {{{{"f", f, METH_O, 0}}, {{0}}}};
struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "asked", 0, -1, methods}};
PyMODINIT_FUNC PyInit_asked(void) {{ return PyModule_Create(&definition); }}
---
import asked
---
{typed}
asked.f({given});"""

FAILED_STEAL = """static PyObject *f(PyObject *self, PyObject *arg) {
    PyObject *list = PyList_New(1);
    PyObject *item = PyUnicode_FromFormat("k%d", 12);
    if (PyList_SetItem(list, 5, item) < 0) {
        Py_DECREF(item);
        Py_DECREF(list);
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return list;
}"""
LEAK = """static PyObject *f(PyObject *self, PyObject *arg) {
    PyObject *found = PyDict_New();
    for (long n = 0; n < 3; n++) {
        PyObject *key = PyUnicode_FromFormat("key %ld", n);
        PyDict_SetItem(found, key, arg);
    }
    return found;
}"""
BUFFER = """static PyObject *f(PyObject *self, PyObject *arg) {
    Py_buffer view;
    if (PyObject_GetBuffer(arg, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    return PyLong_FromSsize_t(view.len);
}"""
NULL_MEMBER = """typedef struct { long n; double *data; } Vec;
static PyObject *f(PyObject *self, PyObject *arg) {
    Vec v = {PyLong_AsLong(arg), NULL};
    return PyFloat_FromDouble(v.data[v.n]);
}"""
DIVIDES = """static PyObject *f(PyObject *self, PyObject *arg) {
    long n = PyLong_AsLong(arg);
    return PyLong_FromLong(7 / n);
}"""
QUESTIONS = {
    "python-hunter#128": (
        FAILED_STEAL,
        "%%inspect_leaks -m asked",
        "1",
        "asked.f releases a str once too often: PyList_SetItem in cell:4 had taken it, although it failed."
        r".* 4 +if \(PyList_SetItem\(list, 5, item\) < 0\) \{ +failed, yet took your item"
        r" − 5 +Py_DECREF\(item\); +releases it again",
    ),
    "a key that is never released": (
        LEAK,
        "%%inspect_leaks -m asked",
        "1",
        "asked.f loses a reference 3 times: the str that PyUnicode_FromFormat makes in cell:4 is never "
        r"released.* 5 +PyDict_SetItem\(found, key, arg\); +takes its own; yours stays"
        r" \+ +Py_DECREF\(key\); +missing",
    ),
    "a buffer": (
        BUFFER,
        "%%inspect_leaks -m asked",
        "bytearray(9)",
        r"asked.f never releases the buffer of a bytearray.* \+ +PyBuffer_Release\(&view\); +missing",
    ),
    "vscode-jupyter#3251": (
        NULL_MEMBER,
        "%%inspect_debug",
        "1",
        r"f \(cell:4\) used address 8, as a NULL pointer does \(SIGSEGV\). v.data is NULL. "
        r"Python was at cell 3:1.*▸ 4 +return PyFloat_FromDouble\(v.data\[v.n\]\);",
    ),
    "a division by zero": (
        DIVIDES,
        "%%inspect_debug",
        "0",
        r"f \(cell:3\) divided an integer by zero \(SIGFPE\). Python was at cell 3:1",
    ),
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_first_lines_name_the_line_of_c(asked: str, tmp_path: Path) -> None:
    body, typed, given, wanted = QUESTIONS[asked]
    (tmp_path / "cells").write_text(MODULE.format(body=body, typed=typed, given=given))
    (tmp_path / "shell.py").write_text(SHELL)
    command = [sys.executable, "-P", "shell.py", "cells"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=100)
    text = done.stdout.partition("\nTYPED\n")[2].strip("\n").splitlines()
    shown = "\n".join(text) + done.stderr
    assert text and len(text) <= ROWS and max(map(len, text)) <= COLUMNS, shown
    assert re.search(wanted, " ".join(" ".join(text).split())), shown
    assert re.match(wanted.partition(" ")[0], text[0].strip()), "it stands too low"


def test_a_crash_in_a_library_names_the_users_own_line(tmp_path: Path) -> None:
    """ctypes/__init__.py is Python's: who called it is what one has to change."""
    cell = "%%inspect_debug\nimport ctypes\ndef f(n):\n    return ctypes.string_at(n)\nf(8)"
    (tmp_path / "cells").write_text(f"1\n---\n{cell}")
    (tmp_path / "shell.py").write_text(SHELL)
    command = [sys.executable, "-P", "shell.py", "cells"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=100)
    text = done.stdout.partition("\nTYPED\n")[2].strip("\n").splitlines()
    assert len(text) <= ROWS, (text, done.stderr)
    assert "Python was at cell 2:3." in " ".join(" ".join(text[:4]).split()), (text, done.stderr)
