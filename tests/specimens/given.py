"""What methods do to what they are given, out of sight of every hook: one small module in C, judged in its
own process by tests/leaks/test_calls.py. `fault(name)` says which of its faults is on; "" makes it honest.
"""

# SPDX-License-Identifier: MIT
import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import specimens
from leak_judge import clearly

import inspector

SOURCE: Final = r"""
#include <Python.h>
static const char *volatile on = "";
static int is(const char *name) { return strcmp((const char *)on, name) == 0; }
typedef struct { PyObject_HEAD PyObject *item; } Box;
static int box_init(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *item;
    if (!PyArg_ParseTuple(args, "O", &item)) { return -1; }
    if (!is("kept without a reference")) { Py_INCREF(item); }
    Py_XSETREF(((Box *)self)->item, item);
    return 0;
}
static int box_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((Box *)self)->item);
    Py_VISIT(Py_TYPE(self));
    return 0;
}
static int box_clear(PyObject *self) { Py_CLEAR(((Box *)self)->item); return 0; }
static void box_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    box_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}
static int box_set(PyObject *self, PyObject *key, PyObject *item) {
    Py_XSETREF(((Box *)self)->item, Py_XNewRef(item));
    return 0;
}
static int box_contains(PyObject *self, PyObject *item) {
    if (is("leaked where it is looked for")) { Py_INCREF(item); }
    return 0;
}
static PyObject *box_or(PyObject *box, PyObject *other) {
    return is("in place without a reference") ? box : Py_NewRef(box);
}
static PyType_Slot slots[] = {
    {Py_tp_init, box_init}, {Py_tp_traverse, box_traverse}, {Py_tp_clear, box_clear},
    {Py_tp_dealloc, box_dealloc}, {Py_mp_ass_subscript, box_set}, {Py_sq_contains, box_contains},
    {Py_nb_inplace_or, box_or}, {0, NULL},
};
static PyType_Spec Box_type = {
    "given.Box", sizeof(Box), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
typedef struct { PyObject_HEAD int n; } Small;
static PyObject *small_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    PyObject *self = type->tp_alloc(type, 0);
    int n;
    if (!self || !PyArg_ParseTuple(args, "i", &n)) {
        if (!is("leaked where it is refused")) { Py_XDECREF(self); }
        return NULL;
    }
    ((Small *)self)->n = n;
    return self;
}
static PyTypeObject Small_type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "given.Small", .tp_basicsize = sizeof(Small),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = small_new,
};
static PyObject *fault(PyObject *self, PyObject *name) {
    static char text[64];
    snprintf(text, sizeof text, "%s", PyUnicode_AsUTF8(name));
    on = text;
    Py_RETURN_NONE;
}
"""


class Thing:
    """An argument."""


def _replaced(given: Any, thing: Thing) -> Any:
    box = given.Box(thing)
    box[0] = Thing()  # what it replaces dies where nobody else has it, and holds its class no more
    box[0] = Thing()
    return box


def _joined(given: Any, thing: Thing) -> Any:
    box = holder = given.Box(thing)
    box |= 1
    return box, holder


USES: Final[dict[str, Callable[[Any, Thing], Any]]] = {
    "kept without a reference": lambda given, thing: given.Box(thing),
    "leaked where it is looked for": lambda given, thing: thing in given.Box(1),
    "in place without a reference": _joined,
    "leaked where it is refused": lambda given, thing: given.Small(thing),
    "replaced": _replaced,
}


def _used(given: Any, name: str, on: str) -> Any:
    thing = Thing()
    given.fault(on)
    with inspector.leaks("given") as found, contextlib.suppress(TypeError):
        result = USES[name](given, thing)
    given.fault("")
    result = None  # noqa: F841  it lives until here
    return found


def _run(given: Any, name: str, on: str) -> Any:
    def run() -> None:
        given.fault(on)
        with contextlib.suppress(TypeError):
            USES[name](given, Thing())
        given.fault("")

    return inspector.leaks("given").run(run, isolate=True)


def _told(found: Any) -> list[tuple[str, bool, str, str]]:
    return [(one.kind, one.certain, one.object, one.method) for one in found]


def _judged() -> dict[str, Any]:
    given = specimens.build("given", SOURCE)
    answers = {}
    for name in USES:
        for on in (name, ""):
            once = clearly(lambda: _used(given, name, on))
            answers[f"{name}: {'fault' if on else 'honest'}"] = (_told(once), _told(_run(given, name, on)))
    return answers


if __name__ == "__main__":
    print(json.dumps(_judged()))
