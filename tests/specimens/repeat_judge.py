"""Run by tests/leaks/test_repeat.py in its own process: the repeat rule on C that only macros count in."""

# SPDX-License-Identifier: MIT
import json
import operator
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import leak_corpus
import specimens
from leak_judge import clearly, verdicts

import inspector
from inspector import _native

SLOTS = r"""
#include <Python.h>
// Items are set and asked through type slots, and counted by macros alone: no hook sees any of it.
typedef struct { PyObject_HEAD PyObject *item; } Box;
static PyObject *kept; // owned: one for ever
static int box_set(PyObject *self, PyObject *key, PyObject *value) {
    Box *box = (Box *)self;
    long what = PyLong_AsLong(key);
    PyObject *old = box->item;
    if (what != 1) { Py_INCREF(value); }   // 1: the caller's reference is stolen
    if (what == 2) { Py_INCREF(value); }   // 2: one is leaked
    if (what == 3) { abort(); }
    if (what == 5) { PyErr_SetString(PyExc_ValueError, "and it says 0"); }
    box->item = value;
    Py_XDECREF(old);
    if (what == 4 && !kept) { Py_INCREF(value); kept = value; }
    return 0;
}
static void box_dealloc(PyObject *self) {
    Py_XDECREF(((Box *)self)->item);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}
typedef struct { PyObject_HEAD } Empty;
static void keeps_type_dealloc(PyObject *self) { Py_TYPE(self)->tp_free(self); } // no Py_DECREF(type)
static void takes_type_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
    Py_DECREF(type); // one too many
}
static PyType_Slot keeps_slots[] = {{Py_tp_dealloc, keeps_type_dealloc}, {0, NULL}};
static PyType_Slot takes_slots[] = {{Py_tp_dealloc, takes_type_dealloc}, {0, NULL}};
static PyType_Spec KeepsType_type = {"slotted.KeepsType", sizeof(Empty), 0, Py_TPFLAGS_DEFAULT, keeps_slots};
static PyType_Spec TakesType_type = {"slotted.TakesType", sizeof(Empty), 0, Py_TPFLAGS_DEFAULT, takes_slots};
static PyObject *box_call(PyObject *box, PyObject *args, PyObject *names) {
    Py_INCREF(PyTuple_GET_ITEM(args, 0));  // leaked
    Py_RETURN_NONE;
}
static PyObject *box_next(PyObject *self) {
    PyObject *item = ((Box *)self)->item;
    ((Box *)self)->item = NULL;
    if (item == Py_True) { Py_INCREF(self); }  // leaked
    return item;                               // NULL with no exception: no more items
}
static PyType_Slot slots[] = {
    {Py_mp_ass_subscript, box_set}, {Py_tp_call, box_call}, {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, box_next}, {Py_tp_dealloc, box_dealloc}, {0, NULL},
};
static PyType_Spec Box_type = {"slotted.Box", sizeof(Box), 0, Py_TPFLAGS_DEFAULT, slots};
"""
RESIZED = r"""
#include <Python.h>
// Tuples that one call makes and another resizes and lets go: their first blocks look like tuples still.
enum { MANY = 100 };
static PyObject *tuples[MANY]; // owned
static PyObject *begin(PyObject *self, PyObject *text) {
    static int size = 31;
    size += 2; // others of that size do not get all those blocks
    for (int i = 0; i < MANY && !tuples[i]; i++) {
        tuples[i] = PyTuple_New(size);
        for (int at = 0; tuples[i] && at < size; at++) { PyTuple_SET_ITEM(tuples[i], at, Py_NewRef(text)); }
    }
    Py_RETURN_NONE;
}
static PyObject *finish(PyObject *self, PyObject *unused) {
    for (int i = 0; i < MANY; i++) {
        if (tuples[i] && _PyTuple_Resize(&tuples[i], 4000) < 0) { return NULL; }
        Py_CLEAR(tuples[i]);
    }
    Py_RETURN_NONE;
}
"""
TEXT = "one text that many runs put into a box"
ONE = frozenset((TEXT,))


def fresh() -> str:
    return "fresh " * 3 + str(os.getpid())


CASES: dict[str, tuple[int, Callable[[], Any]]] = {
    "new objects": (2, fresh),
    "one object more": (2, lambda: TEXT),
    "one object fewer": (1, lambda: ONE),
    "balanced": (0, fresh),
    "kept": (4, fresh),
    "crash": (3, fresh),
}
HONEST = ("cached_in_static", "cached_in_malloc", "interned_name", "string_growth", "cycle_left_to_gc")


def setting(slotted: Any, what: int, value: Callable[[], Any]) -> Callable[[], None]:
    """A run that puts what `value` gives into a fresh box."""

    def run() -> None:
        slotted.Box()[what] = value()

    return run


def used(slotted: Any, value: Any, use: Callable[[Any, Any], Any]) -> Any:
    """What one use of a box that lives leaves."""
    box = slotted.Box()
    with inspector.leaks("slotted") as found:
        use(box, value)
    return found


def at_once(slotted: Any, value: Callable[[], Any], use: Callable[[Any, Any], Any]) -> list[dict[str, Any]]:
    """The verdicts of the first call."""
    return told(clearly(lambda: used(slotted, value(), use)))


def taken(box: Any, item: Any) -> None:
    box[0] = item
    assert [*box] == [item]


def finished_between() -> list[str]:
    """Types of what seems left of tuples that three runs make, and that go when no run is watched."""
    resized = specimens.build("resized", RESIZED)
    watched = inspector.leaks("resized")
    for _ in range(2):
        watched._once(lambda: resized.begin(fresh()))
        resized.finish()
    rows = _native.unexplained_note(0)[0]
    for left in (0, 0, 1 << 12):
        watched._once(lambda: resized.begin(fresh()))
        resized.finish()
        rows, _ = _native.unexplained_note(left)
    return [name for _, name, first, _ in rows if first and name == "tuple"]


def told(found: Any) -> list[dict[str, Any]]:
    """The verdicts, as plain values."""
    functions = [getattr(getattr(one.conversion, "site", None), "function", "") for one in found]
    functions = [name if isinstance(name, str) else "" for name in functions]
    return [row | {"function": name} for row, name in zip(verdicts(found), functions, strict=True)]


ONCE: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "leaked where it is set": (fresh, lambda box, item: operator.setitem(box, 2, item)),
    "balanced": (fresh, lambda box, item: operator.setitem(box, 0, item)),
    "kept": (fresh, lambda box, item: operator.setitem(box, 4, item)),
    "0 with an exception": (fresh, lambda box, item: operator.setitem(box, 5, item)),
    "leaked where it is called": (fresh, lambda box, item: box(item)),
    "leaked where it is iterated": (lambda: True, taken),
    "iterated": (fresh, taken),
}


def judged() -> dict[str, Any]:
    slotted = specimens.build("slotted", SLOTS)
    corpus = specimens.build("leak_corpus", leak_corpus.SOURCE)
    spare = [ONE] * 100  # so that it lives
    once = {f"once: {name}": at_once(slotted, *case) for name, case in ONCE.items()}
    answers = {
        name: told(inspector.leaks("slotted").run(setting(slotted, *case), isolate=name == "crash"))
        for name, case in CASES.items()
    }
    for name in HONEST:
        call = getattr(corpus, name)
        answers[name] = told(inspector.leaks("leak_corpus").run(lambda: call(leak_corpus.argument(name))))
    ranges: list[range] = []
    answers["ranges"] = told(inspector.leaks("leak_corpus").run(lambda: ranges.append(range(int("500000")))))
    answers["resized"] = finished_between()
    three = lambda: [slotted.KeepsType() for _ in range(3)]  # noqa: E731
    answers["type more"] = told(inspector.leaks("slotted").run(three))
    some = [slotted.TakesType] * 100  # so that it lives
    answers["type fewer"] = told(inspector.leaks("slotted").run(slotted.TakesType))
    answers["type balanced"] = told(inspector.leaks("slotted").run(slotted.Box))
    del some
    del spare
    return answers | once


if __name__ == "__main__":
    print(json.dumps(judged()), flush=True)
    os._exit(0)  # not by way of a type that was released too often
