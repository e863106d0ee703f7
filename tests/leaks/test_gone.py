"""An object kept for reuse and released once more, its type gone: told, nothing is read."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import pytest
import specimens

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
SOURCE = r"""
#include <Python.h>
typedef struct { PyObject_HEAD } Thing;
static PyObject *spare; // a block kept for reuse, as Cython keeps them: nobody frees it
static void keep(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    spare = self;
    Py_DECREF(type);
}
static PyType_Slot slots[] = {{Py_tp_dealloc, keep}, {0, NULL}};
static PyType_Spec spec = {"gone.Thing", sizeof(Thing), 0, Py_TPFLAGS_DEFAULT, slots};
static PyObject *make_type(PyObject *self, PyObject *unused) { return PyType_FromSpec(&spec); }
static PyObject *twice(PyObject *self, PyObject *type) {
    PyObject *thing = PyObject_CallNoArgs(type);
    volatile int times = 2;
    while (thing && times--) { Py_DECREF(thing); }
    Py_RETURN_NONE;
}
"""


def test_a_type_that_is_gone_is_not_read() -> None:
    gone: Any = specimens.build("gone", SOURCE)
    with inspector.leaks("gone") as found:
        kind = gone.make_type()
        gone.twice(kind)
        del kind
        gc.collect()
    (one,) = (one for one in found if one.kind == "over-released")
    assert (one.object, one.method) == ("object", "gone.twice")


KEPT = r"""
#include <Python.h>
#include <string.h>
typedef struct { PyObject_HEAD } Node;
static PyObject *spare;
static int visit_type(PyObject *self, visitproc visit, void *arg) { Py_VISIT(Py_TYPE(self)); return 0; }
static void keep(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    spare = self;
    Py_DECREF(type);
}
static PyType_Slot slots[] = {{Py_tp_dealloc, keep}, {Py_tp_traverse, visit_type}, {0, NULL}};
static PyType_Spec spec = {
    "kept.Node", sizeof(Node), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
static PyObject *make_type(PyObject *self, PyObject *unused) { return PyType_FromSpec(&spec); }
static PyObject *die(PyObject *self, PyObject *type) {
    Py_XDECREF(PyObject_CallNoArgs(type));
    Py_RETURN_NONE;
}
// Another use of the block, which is freed afterwards: there is no object in it any more.
void use_block(void) {
    char *block = (char *)spare - 16;
    memset(block, 0x31, 16 + sizeof(Node));
    PyObject_Free(block);
}
"""
CHILD = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import inspector, kept
kind, library = kept.make_type(), ctypes.PyDLL(kept.__file__)
with inspector.leaks("kept") as found:
    kept.die(kind)
    library.use_block()
print(len(found.verdicts))
"""


def test_a_block_whose_object_is_gone_is_freed_as_it_is() -> None:
    """Dict keys in the place of a dead node of pandas' once ended the process."""
    folder = str(specimens.library("kept", KEPT).parent)
    ended = subprocess.run([sys.executable, "-P", "-c", CHILD, folder], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0\n", "")
