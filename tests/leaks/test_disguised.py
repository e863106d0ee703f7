"""Owners that no plain pointer shows: each was accused, certainly, on the first call."""

# SPDX-License-Identifier: MIT
import ctypes
import sys
from typing import Any

import pytest
import specimens

import inspector
from inspector._native import Subject
from inspector.ledger.disguised import disguised

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
#include <stddef.h>
#include <sys/mman.h>
typedef struct chain { struct chain *next; } chained;
typedef struct { PyObject_HEAD long number; chained chain; } Entry;
static chained *volatile head; // of an intrusive list, which has a reference to each entry
static void end(PyObject *self) { Py_TYPE(self)->tp_free(self); }
static PyTypeObject Entry_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "disguises.Entry",
    .tp_basicsize = sizeof(Entry),
    .tp_dealloc = end,
};
static Entry *made(void) { return PyType_Ready(&Entry_type) < 0 ? NULL : PyObject_New(Entry, &Entry_type); }
static PyObject *linked(PyObject *self, PyObject *unused) {
    Entry *entry = made();
    if (entry) {
        entry->chain.next = head;
        head = &entry->chain;
    }
    return entry ? Py_NewRef(Py_None) : NULL;
}
static PyObject *lost(PyObject *self, PyObject *unused) { // its chain leads to itself
    Entry *entry = made();
    if (entry) {
        entry->chain.next = &entry->chain;
    }
    return entry ? Py_NewRef(Py_None) : NULL;
}
static volatile uintptr_t words[64]; // a queue without locks counts in the upper bits; others invert
static int count;
static PyObject *tagged(PyObject *self, PyObject *one) {
    words[count++] = (uintptr_t)Py_NewRef(one) | 7UL << 48;
    words[count++] = (uintptr_t)PyTuple_Pack(1, one) | 9UL << 48;
    Py_RETURN_NONE;
}
static PyObject *inverted(PyObject *self, PyObject *one) {
    words[count++] = ~(uintptr_t)PyTuple_Pack(1, one);
    Py_RETURN_NONE;
}
static char *volatile base; // compressed pointers: from a base, in steps, the lower half
static volatile uint32_t halves[64];
static volatile char *packed_room;
static volatile uintptr_t secret;
static char *based(void *object) {
    return base = base ? base : (char *)((uintptr_t)object & ~(uintptr_t)0xfffffff);
}
static PyObject *offset(PyObject *self, PyObject *one) {
    char *kept = (char *)PyTuple_Pack(1, one);
    halves[count++] = (uint32_t)(kept - based(kept));
    Py_RETURN_NONE;
}
static PyObject *steps(PyObject *self, PyObject *one) {
    char *kept = (char *)PyTuple_Pack(1, one);
    halves[count++] = (uint32_t)((kept - based(kept)) >> 3);
    Py_RETURN_NONE;
}
static PyObject *lower_half(PyObject *self, PyObject *one) {
    halves[count++] = (uint32_t)(uintptr_t)PyTuple_Pack(1, one);
    Py_RETURN_NONE;
}
static PyObject *combined(PyObject *self, PyObject *one) {
    secret = 0x9e3779b97f4a7c15;
    words[count++] = (uintptr_t)PyTuple_Pack(1, one) ^ secret;
    Py_RETURN_NONE;
}
static PyObject *packed(PyObject *self, PyObject *one) {
    PyObject *kept = PyTuple_Pack(1, one);
    packed_room = packed_room ? packed_room : calloc(64, 9);
    memcpy((char *)packed_room + 9 * count++ + 1, &kept, sizeof kept);
    Py_RETURN_NONE;
}
static PyObject *shared(PyObject *self, PyObject *one) {
    static PyObject **room;
    if (!room) {
        room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    }
    room[count++] = Py_NewRef(one);
    room[count++] = PyList_New(1);
    Py_RETURN_NONE;
}
"""


@pytest.fixture(scope="module")
def disguises() -> Any:
    return specimens.build("disguises", SOURCE)


@pytest.mark.parametrize(
    "name",
    [
        *("linked", "tagged", "inverted", "shared"),
        *("offset", "steps", "lower_half", "combined", "packed"),
    ],
)
def test_an_owner_in_disguise_is_a_doubt(disguises: Any, name: str) -> None:
    call, one = getattr(disguises, name), ["an argument"]
    arguments = () if name == "linked" else (one,)
    with inspector.leaks("disguises") as found:
        call(*arguments)
        call(*arguments)
    assert not found.certain, found.verdicts


@pytest.mark.skipif(sys.flags.dev_mode, reason="not on CPython -X dev: each object has a debug header")
def test_an_owner_may_lie_just_before_the_object() -> None:
    """Where an object has no head of the collector's, the bytes before it are another block's."""
    allocate, release = ctypes.pythonapi.PyObject_Malloc, ctypes.pythonapi.PyObject_Free
    allocate.restype, release.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    size, raw, objects = sys.getsizeof(bytes(31)), [], {}
    for _ in range(500):
        raw.append(allocate(size))
        one = bytes(31)
        objects[id(one)] = one
    at = next(block + size for block in raw if block + size in objects)
    ctypes.c_uint64.from_address(at - 24).value = at | 7 << 48
    words = disguised([Subject(objects[at])])[at]
    for block in raw:
        release(block)
    assert words > 0


def test_what_only_points_to_itself_is_lost(disguises: Any) -> None:
    """An old word in memory may pass for the way to one of the three."""
    with inspector.leaks("disguises") as found:
        for _ in range(3):
            disguises.lost()
    assert {(one.kind, one.method) for one in found.certain} == {("leaked", "disguises.lost")}
