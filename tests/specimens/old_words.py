"""Blocks that a module forgets, and keeps, in surroundings that leave old words: one small module in C.

`forget` loses one block after one of PATTERNS (a loop that came before, a struct that died, an error ...);
`keep` has it known in one of KEEPS: by a static, by its inside, by its end, from a list, as a number ...
"""

# SPDX-License-Identifier: MIT
from typing import Final

KINDS: Final = (
    "PyMem_Malloc", "PyMem_Calloc", "PyMem_Realloc", "PyObject_Malloc", "PyObject_Calloc", "malloc", "calloc",
    "operator new", "strdup", "PyMem_RawMalloc",
)  # fmt: skip
"""Who gives the block: its place is the number that the module takes."""
PATTERNS: Final = 11
KEEPS: Final = 10
FREES: Final = 2

SOURCE: Final = r"""
#define _GNU_SOURCE
#include <Python.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
void *_Znwm(size_t);
void _ZdlPv(void *);
enum { KEPT = 1 << 16 };
enum { PYMEM, PYMEM_CALLOC, PYMEM_REALLOC, PYOBJECT, PYOBJECT_CALLOC, MALLOC, CALLOC, NEW, STRDUP, RAW };
static void *volatile used;
static void *use(void *block) {
    used = block;
    used = NULL;
    return block;
}
static __attribute__((noinline)) void *ask(int kind, size_t bytes) {
    static char text[4096];
    switch (kind) {
    case PYMEM:
        return PyMem_Malloc(bytes);
    case PYMEM_CALLOC:
        return PyMem_Calloc(1, bytes);
    case PYMEM_REALLOC:
        return PyMem_Realloc(PyMem_Malloc(bytes / 2 + 1), bytes);
    case PYOBJECT:
        return PyObject_Malloc(bytes);
    case PYOBJECT_CALLOC:
        return PyObject_Calloc(1, bytes);
    case MALLOC:
        return malloc(bytes);
    case CALLOC:
        return calloc(1, bytes);
    case NEW:
        return _Znwm(bytes);
    case RAW:
        return PyMem_RawMalloc(bytes);
    default:
        if (bytes >= sizeof text)
            bytes = sizeof text - 1;
        memset(text, 'a', bytes);
        text[bytes - 1] = 0;
        return strdup(text);
    }
}
static void give_back(int kind, void *block) {
    if (kind <= PYMEM_REALLOC)
        PyMem_Free(block);
    else if (kind <= PYOBJECT_CALLOC)
        PyObject_Free(block);
    else if (kind == NEW)
        _ZdlPv(block);
    else if (kind == RAW)
        PyMem_RawFree(block);
    else
        free(block);
}
static void *moved(int kind, void *block, size_t bytes) { // by realloc, which `new` has not
    if (kind == NEW)
        return block;
    if (kind <= PYMEM_REALLOC)
        return PyMem_Realloc(block, bytes);
    if (kind <= PYOBJECT_CALLOC)
        return PyObject_Realloc(block, bytes);
    return kind == RAW ? PyMem_RawRealloc(block, bytes) : realloc(block, bytes);
}
static void fill(int kind, void *block, size_t bytes) {
    if (kind != STRDUP)
        memset(block, 1, bytes);
}
// What uses a block before it is forgotten.
static __attribute__((noinline)) size_t deep(char *block, size_t bytes, int depth) {
    volatile char *here[4] = {block, block + bytes / 2, block, block};
    return depth ? deep(block, bytes, depth - 1) + (here[depth & 3] != NULL) : 1;
}
struct node {
    struct node *next;
    void *block;
    long numbers[5];
};
static PyObject *forget(PyObject *self, PyObject *args) { // kind, bytes, pattern
    int kind, pattern;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "ini", &kind, &bytes, &pattern))
        return NULL;
    if (pattern == 6 || pattern == 7) { // many blocks come and go before
        void *some[64] = {NULL};
        unsigned seed = (unsigned)bytes * 7919u + (unsigned)kind;
        for (int i = 0; i < 5000; i++) {
            seed = seed * 1664525u + 1013904223u;
            int at = seed >> 16 & 63;
            size_t size = pattern == 6 ? (size_t)bytes : 16 + (seed >> 8 & 1023);
            if (some[at])
                give_back(kind, some[at]);
            some[at] = ask(kind, size);
            fill(kind, some[at], kind == STRDUP && size > 4095 ? 4095 : size);
        }
        for (int i = 0; i < 64; i++) {
            if (some[i]) {
                give_back(kind, some[i]);
                some[i] = NULL;
            }
        }
    }
    if (pattern == 8) { // a linked list that comes and goes
        struct node *head = NULL;
        for (int i = 0; i < 500; i++) {
            struct node *one = ask(kind == STRDUP ? MALLOC : kind, sizeof *one);
            one->next = head;
            one->block = NULL;
            memset(one->numbers, 0, sizeof one->numbers);
            head = one;
        }
        while (head) {
            struct node *next = head->next;
            give_back(kind == STRDUP ? MALLOC : kind, head);
            head = next;
        }
    }
    char *block = ask(kind, (size_t)bytes);
    if (!block)
        return PyErr_NoMemory();
    fill(kind, block, (size_t)bytes);
    use(block);
    PyObject *result = NULL;
    switch (pattern) {
    case 1:
        result = PyLong_FromSize_t(deep(block, (size_t)bytes, 6));
        break;
    case 2: { // named by a struct that is freed
        struct node *one = malloc(sizeof *one);
        *one = (struct node){NULL, block, {0}};
        use(one);
        free(one);
        break;
    }
    case 3: // named by an object that dies
        Py_XDECREF(PyCapsule_New(block, NULL, NULL));
        break;
    case 4: // its text becomes an object
        result = PyBytes_FromStringAndSize(block, bytes);
        break;
    case 5: // on an error path
        PyErr_SetString(PyExc_ValueError, "forgotten");
        return NULL;
    case 9: { // filled beside others, which are freed
        char *others[8];
        for (int i = 0; i < 8; i++) {
            others[i] = ask(kind, (size_t)bytes);
            fill(kind, others[i], (size_t)bytes);
            use(others[i]);
        }
        for (int i = 0; i < 8; i++)
            give_back(kind, others[i]);
        break;
    }
    case 10: { // of a struct of C that Python code is called with
        PyObject *list = PyList_New(0), *number = PyLong_FromLong(block[0]);
        if (list && number) {
            PyList_Append(list, number);
            PyObject *r = PyObject_Repr(list);
            Py_XDECREF(r);
        }
        Py_XDECREF(list);
        Py_XDECREF(number);
        break;
    }
    }
    return result ? result : Py_NewRef(Py_None);
}
// Honest: kept otherwise.
static void *volatile kept[KEPT];
static volatile int kept_count;
static struct node *volatile list;
static void *volatile *volatile table;
static int volatile table_count;
static void listed(int kind, char *word) { // in a node of the list
    struct node *one = ask(kind == STRDUP ? MALLOC : kind, sizeof *one);
    *one = (struct node){list, word, {0}};
    list = one;
}
static PyObject *keep(PyObject *self, PyObject *args) { // kind, bytes, way
    int kind, way;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "ini", &kind, &bytes, &way))
        return NULL;
    char *block = ask(kind, (size_t)bytes);
    if (!block)
        return PyErr_NoMemory();
    fill(kind, block, (size_t)bytes);
    use(block);
    if (kept_count == KEPT)
        kept_count = 0;
    switch (way) {
    case 0:
        kept[kept_count++] = block;
        break;
    case 1:
        kept[kept_count++] = block + bytes / 2;
        break;
    case 2:
        kept[kept_count++] = block + bytes;
        break;
    case 3:
        listed(kind, block);
        break;
    case 4:
        listed(kind, block + bytes / 3);
        break;
    case 5: { // an array of pointers that grows
        table = PyMem_Realloc((void *)table, sizeof(void *) * (size_t)(table_count + 1));
        table[table_count++] = block;
        break;
    }
    case 6:
        return PyCapsule_New(block, NULL, NULL);
    case 7: // in a struct, by its end
        listed(kind, block + bytes);
        break;
    case 8:
        return PyLong_FromVoidPtr(block);
    case 9: // moved, then kept
        block = moved(kind, block, (size_t)bytes * 3 / 2 + 8);
        kept[kept_count++] = block;
        break;
    }
    Py_RETURN_NONE;
}
static PyObject *freed(PyObject *self, PyObject *args) { // kind, bytes, way
    int kind, way;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "ini", &kind, &bytes, &way))
        return NULL;
    for (int i = 0; i < 100; i++) {
        char *block = ask(kind, (size_t)bytes);
        fill(kind, block, (size_t)bytes);
        use(block);
        if (way == 1)
            block = moved(kind, block, (size_t)bytes * 2);
        give_back(kind, block);
    }
    Py_RETURN_NONE;
}
// What a test plants: words that nobody who lives there wrote. Each forgets a block that only they name.
static PyObject *in_own_rest(PyObject *self, PyObject *unused) {
    volatile uintptr_t *block = malloc(172); // 184 may be used
    memset((void *)block, 0, 172);
    block[22] = (uintptr_t)block + 48;
    block = NULL;
    Py_RETURN_NONE;
}
enum { ITEMS = PY_VERSION_HEX >= 0x030E0000 ? 3 : 2 }; // a tuple has one field more there
static PyObject *behind_objects(PyObject *self, PyObject *unused) {
    volatile uintptr_t *block = malloc(300), *word;
    PyObject *cell = PyCell_New(NULL),
             *pair = PyTuple_Pack(ITEMS, Py_None, Py_None, Py_None); // one word behind each is nobody's
    if (!cell || !pair)
        return NULL;
    block[0] = 0;
    word = (volatile uintptr_t *)((char *)cell + sizeof(PyCellObject));
    *word = (uintptr_t)block;
    word = (volatile uintptr_t *)((PyTupleObject *)pair)->ob_item + ITEMS;
    *word = (uintptr_t)block;
    block = NULL;
    return Py_BuildValue("(NN)", cell, pair);
}
static PyObject *behind_number(PyObject *self, PyObject *unused) {
    volatile uintptr_t *block = malloc(300), *word;
    PyObject *number = PyFloat_FromDouble(0.1 + (double)(uintptr_t)block);
    block[0] = 0;
    word = (volatile uintptr_t *)((char *)number + sizeof(PyFloatObject));
    *word = (uintptr_t)block;
    block = NULL;
    return number;
}
#if PY_VERSION_HEX >= 0x030E0000 // the headers for extensions do not describe it any more
typedef struct {
    PyObject_HEAD
    PyObject *references[3];
    _PyErr_StackItem exc_state;
    PyObject *gi_origin_or_finalizer;
} generator_head;
#else
typedef PyGenObject generator_head;
#endif
static PyObject *in_generator(PyObject *self, PyObject *generator) { // a field that only coroutines set
    volatile uintptr_t *block = malloc(300);
    block[0] = 0;
    ((generator_head *)generator)->gi_origin_or_finalizer = (PyObject *)block;
    block = NULL;
    Py_RETURN_NONE;
}
static PyObject *behind_variable(PyObject *self, PyObject *unused) {
    volatile uintptr_t *block = malloc(300), *word;
    setenv("OLDWORDS", "x", 1); // 11 bytes of the 24 that may be used
    block[0] = 0;
    word = (volatile uintptr_t *)(getenv("OLDWORDS") - sizeof "OLDWORDS");
    word[2] = (uintptr_t)block;
    block = NULL;
    Py_RETURN_NONE;
}
static PyObject *behind_aligned(PyObject *self, PyObject *unused) {
    enum { MANY = 2000, BYTES = 200, LONG = 232 }; // some have 32 bytes more than they asked for
    static void *volatile others[2 * MANY];
    volatile uintptr_t *block = NULL;
    int count = 0;
    for (; count < 2 * MANY && !block; count += 2) {
        others[count] = malloc((size_t)(count % 23) * 16 + 8);
        others[count + 1] = aligned_alloc(64, BYTES);
        if (malloc_usable_size(others[count + 1]) >= LONG) {
            block = others[count + 1];
            others[count + 1] = NULL;
        }
    }
    while (count--) {
        free(others[count]);
        others[count] = NULL;
    }
    if (!block)
        return PyLong_FromLong(0);
    memset((void *)block, 0, BYTES);
    block[LONG / sizeof *block - 1] = (uintptr_t)block + 48;
    block = NULL;
    return PyLong_FromLong(LONG - BYTES);
}
enum { JOINED = 40, JOINED_BYTES = 20000 };
static void *volatile *old_names;
static PyObject *name_top(PyObject *self, PyObject *unused) { // blocks that are freed and join the heap's top
    free(use(malloc(4 << 20))); // from then on glibc keeps so much at its heap's top
    old_names = malloc(JOINED * sizeof *old_names);
    for (int i = 0; i < JOINED; i++)
        old_names[i] = malloc(JOINED_BYTES);
    for (int i = JOINED; i--;)
        free(old_names[i]);
    Py_RETURN_NONE;
}
static PyObject *forget_top(PyObject *self, PyObject *unused) {
    for (int i = 0; i < JOINED; i++)
        use(memset(malloc(JOINED_BYTES), 1, JOINED_BYTES));
    Py_RETURN_NONE;
}
static PyObject *give(PyObject *self, PyObject *args) { // kind, bytes: the caller frees it
    int kind;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "in", &kind, &bytes))
        return NULL;
    char *block = ask(kind, (size_t)bytes);
    fill(kind, block, (size_t)bytes);
    return PyLong_FromVoidPtr(block);
}
static PyObject *take(PyObject *self, PyObject *args) { // kind, address, bytes it grows to first
    int kind;
    unsigned long long address;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "iKn", &kind, &address, &bytes))
        return NULL;
    char *block = (char *)(uintptr_t)address;
    if (bytes)
        block = moved(kind, block, (size_t)bytes);
    int first = block[0];
    give_back(kind, block);
    return PyLong_FromLong(first);
}
"""
