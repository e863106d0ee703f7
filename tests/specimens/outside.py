"""Memory outside objects that is lost, and memory that only looks so: one small module in C, a function each.

A fault's line, where the block is asked for, ends with "// leaks".
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Final

LEAKED: Final = {
    "malloc_on_error": "malloc",
    "strdup_each_call": "strdup",
    "calloc_unwritten": "calloc",
    "pymem_lost": "PyMem_Malloc",
    "pyobject_memory_lost": "PyObject_Malloc",
    "grown_and_lost": "realloc",
    "list_lost": "malloc",
    "ring_lost": "malloc",
    "aligned_lost": "posix_memalign",
    "raw_lost": "PyMem_RawMalloc",
    "raw_grown_and_lost": "PyMem_RawRealloc",
    "printed_lost": "asprintf",
    "wide_text_lost": "PyUnicode_AsWideCharString",
}
"""Name -> the function that gave the block."""
HONEST: Final = (
    "in_static", "chain_of_realloc", "freed_later", "inside_only", "end_only", "on_another_thread", "in_list",
    "as_number", "as_packed", "as_trie", "as_pair", "as_tagged", "inverted", "as_text", "in_capsule",
    "given_to_python", "freed_by_callback", "object_of_its_own", "raw_freed", "raw_freed_by_value",
    "texts_freed",
)  # fmt: skip

SOURCE: Final = r"""
#define _GNU_SOURCE
#include <Python.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
enum { KEPT = 256 };
static void *volatile cache[KEPT], *volatile inside, *volatile end;
static volatile uintptr_t hidden, tagged;
static volatile int cached, least = 20;
static struct __attribute__((packed)) { char kind; void *block; } packed;
struct node { struct node *next; char text[40]; };
static struct node *volatile list;
// What the compiler may not take for unused.
static void *volatile used;
static void *use(void *block) {
    used = block;
    used = NULL;
    return block;
}
static PyObject *malloc_on_error(PyObject *self, PyObject *unused) {
    char *text = malloc(100); // leaks
    strcpy(use(text), "some text");
    if ((int)strlen(text) < least) {
        PyErr_SetString(PyExc_ValueError, "too short");
        return NULL;
    }
    free(text);
    Py_RETURN_NONE;
}
static PyObject *strdup_each_call(PyObject *self, PyObject *unused) {
    char *copy = strdup("a text that somebody copies"); // leaks
    return PyLong_FromSize_t(strlen(use(copy)));
}
static PyObject *calloc_unwritten(PyObject *self, PyObject *unused) {
    use(calloc(7, 9)); // leaks
    Py_RETURN_NONE;
}
static PyObject *pymem_lost(PyObject *self, PyObject *unused) {
    memset(use(PyMem_Malloc(90)), 1, 90); // leaks
    Py_RETURN_NONE;
}
static PyObject *pyobject_memory_lost(PyObject *self, PyObject *unused) {
    memset(use(PyObject_Malloc(70)), 1, 70); // leaks
    Py_RETURN_NONE;
}
static PyObject *grown_and_lost(PyObject *self, PyObject *unused) {
    char *text = realloc(used, 30); // leaks
    memset(use(text), 1, 30);
    memset(use(realloc(text, 3000)), 2, 3000);
    Py_RETURN_NONE;
}
static PyObject *raw_lost(PyObject *self, PyObject *unused) {
    memset(use(PyMem_RawMalloc(3000)), 1, 3000); // leaks
    Py_RETURN_NONE;
}
static PyObject *raw_grown_and_lost(PyObject *self, PyObject *unused) {
    char *text = PyMem_RawRealloc(used, 30); // leaks
    memset(use(text), 1, 30);
    memset(use(PyMem_RawRealloc(text, 3000)), 2, 3000);
    Py_RETURN_NONE;
}
static PyObject *raw_freed(PyObject *self, PyObject *unused) {
    void *block = use(PyMem_RawCalloc(30, 30));
    block = use(PyMem_RawRealloc(block, 100000));
    PyMem_RawFree(block);
    Py_RETURN_NONE;
}
static void (*volatile by_value)(void *) = PyMem_RawFree; // as NumPy's tp_free: no slot is asked
static PyObject *raw_freed_by_value(PyObject *self, PyObject *unused) {
    for (int i = 0; i < 8; i++) {
        void *block = use(PyMem_RawMalloc(2632)), *other = use(PyMem_RawMalloc(2469));
        by_value(block);
        by_value(other);
    }
    Py_RETURN_NONE;
}
static PyObject *printed_lost(PyObject *self, PyObject *unused) {
    char *text = NULL;
    int length = asprintf(&text, "a text of %d letters and more", 2000); // leaks
    return length < 0 ? PyErr_NoMemory() : PyLong_FromSize_t(strlen(use(text)));
}
static PyObject *wide_text_lost(PyObject *self, PyObject *unused) {
    PyObject *text = PyUnicode_FromString("a text that is some 50 letters long, and now wide too");
    wchar_t *wide = PyUnicode_AsWideCharString(text, NULL); // leaks
    Py_XDECREF(text);
    return wide ? PyLong_FromLong(*(wchar_t *)use(wide)) : NULL;
}
static PyObject *texts_freed(PyObject *self, PyObject *unused) {
    PyObject *text = PyUnicode_FromString("another text");
    char *printed = NULL;
    int length = asprintf(&printed, "%p", (void *)text);
    wchar_t *wide = PyUnicode_AsWideCharString(text, NULL);
    Py_XDECREF(text);
    PyMem_Free(use(wide));
    free(use(printed));
    return PyLong_FromLong(length);
}
static PyObject *list_lost(PyObject *self, PyObject *unused) {
    struct node *head = NULL;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node); // leaks
        *node = (struct node){head, "a node"};
        head = use(node);
    }
    Py_RETURN_NONE;
}
static PyObject *ring_lost(PyObject *self, PyObject *unused) {
    struct node *nodes[2];
    for (volatile int i = 0; i < 2; i++) {
        nodes[i] = malloc(sizeof **nodes); // leaks
        memset(use(nodes[i]), 0, sizeof **nodes);
    }
    nodes[0]->next = nodes[1];
    nodes[1]->next = nodes[0];
    Py_RETURN_NONE;
}
static PyObject *aligned_lost(PyObject *self, PyObject *unused) {
    void *block = NULL;
    int failed = posix_memalign(&block, 64, 200); // leaks
    memset(use(block), 1, 200);
    return PyLong_FromLong(failed);
}
static PyObject *in_static(PyObject *self, PyObject *unused) {
    memset(cache[cached++ % KEPT] = malloc(200), 1, 200);
    Py_RETURN_NONE;
}
static PyObject *chain_of_realloc(PyObject *self, PyObject *unused) {
    char *text = NULL;
    for (size_t bytes = 16; bytes < 1 << 18; bytes *= 2) {
        text = realloc(text, bytes);
        memset(use(text), 1, bytes);
    }
    free(text);
    Py_RETURN_NONE;
}
static PyObject *freed_later(PyObject *self, PyObject *unused) {
    static void *volatile last;
    free(last);
    last = malloc(333);
    Py_RETURN_NONE;
}
static PyObject *inside_only(PyObject *self, PyObject *unused) {
    if (inside)
        free((char *)inside - 24);
    inside = (char *)malloc(100) + 24;
    Py_RETURN_NONE;
}
static PyObject *end_only(PyObject *self, PyObject *unused) {
    if (end)
        free((char *)end - 128);
    end = (char *)malloc(128) + 128;
    Py_RETURN_NONE;
}
static void *release(void *block) {
    free(block);
    return NULL;
}
static PyObject *on_another_thread(PyObject *self, PyObject *unused) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, release, malloc(500)) == 0)
        pthread_join(thread, NULL);
    Py_RETURN_NONE;
}
static PyObject *in_list(PyObject *self, PyObject *unused) {
    struct node *node = malloc(sizeof *node);
    *node = (struct node){list, "kept"};
    list = node;
    Py_RETURN_NONE;
}
static PyObject *as_number(PyObject *self, PyObject *unused) { return PyLong_FromVoidPtr(use(malloc(60))); }
static PyObject *as_text(PyObject *self, PyObject *unused) {
    return PyUnicode_FromFormat("_%p_p_void", use(malloc(60)));
}
static PyObject *as_packed(PyObject *self, PyObject *unused) {
    free(packed.block);
    packed.block = malloc(60);
    Py_RETURN_NONE;
}
// Nodes with an array of packed edges: 12 bytes for one, 24 for two, so that every second pointer is odd.
struct __attribute__((packed)) edge { int letter; struct trie *to; };
struct trie { int count; struct edge *edges; };
static struct trie *trie_new(void *(*get)(size_t), int depth) {
    struct trie *one = get(sizeof *one);
    one->count = depth ? 2 : 0;
    one->edges = depth ? get((size_t)one->count * sizeof *one->edges) : NULL;
    for (int i = 0; i < one->count; i++) {
        one->edges[i] = (struct edge){i, trie_new(get, depth - 1)};
    }
    return one;
}
static struct trie *volatile tries[KEPT];
static int tries_kept;
static PyObject *as_trie(PyObject *self, PyObject *unused) {
    return (tries[tries_kept++] = trie_new(PyMem_Malloc, 4)) ? Py_NewRef(Py_None) : NULL;
}
static PyObject *as_pair(PyObject *self, PyObject *unused) {
    return (tries[tries_kept++] = trie_new(PyObject_Malloc, 1)) ? Py_NewRef(Py_None) : NULL;
}
static PyObject *as_tagged(PyObject *self, PyObject *unused) {
    free((void *)(tagged & 0xffffffffffff));
    tagged = (uintptr_t)malloc(60) | 0xfff8ull << 48;
    Py_RETURN_NONE;
}
static PyObject *inverted(PyObject *self, PyObject *unused) {
    if (hidden)
        free((void *)~hidden);
    hidden = ~(uintptr_t)malloc(60);
    Py_RETURN_NONE;
}
static void capsule_free(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, NULL)); }
static PyObject *in_capsule(PyObject *self, PyObject *unused) {
    return PyCapsule_New(malloc(60), NULL, capsule_free);
}
static PyObject *given_to_python(PyObject *self, PyObject *unused) {
    char *memory = malloc(64);
    memset(memory, 1, 64);
    return PyMemoryView_FromMemory(memory, 64, PyBUF_READ);
}
static PyObject *freed_by_callback(PyObject *self, PyObject *unused) {
    void (*volatile callback)(void *) = free;
    callback(use(malloc(60)));
    Py_RETURN_NONE;
}
static PyTypeObject Own_type = {PyVarObject_HEAD_INIT(NULL, 0) "outside.Own", .tp_free = PyObject_Free,
                                .tp_basicsize = sizeof(PyObject), .tp_flags = Py_TPFLAGS_DEFAULT};
static PyObject *object_forgotten(PyObject *self, PyObject *unused) {
    use(PyObject_Init(PyObject_Malloc(sizeof(PyObject)), &Own_type));
    Py_RETURN_NONE;
}
static PyObject *object_of_its_own(PyObject *self, PyObject *unused) {
    return PyObject_Init(PyObject_Malloc(sizeof(PyObject)), &Own_type);
}
"""
CPLUSPLUS: Final = r"""
#include <Python.h>
#include <string>
struct Row {
    std::string name{"a name that is too long for the object itself"};
    double numbers[4];
};
static Row *volatile used;
static PyObject *forgotten(PyObject *self, PyObject *unused) {
    used = new Row(); // leaks
    used = nullptr;
    Py_RETURN_NONE;
}
static PyObject *deleted(PyObject *self, PyObject *unused) {
    used = new Row();
    delete used;
    used = nullptr;
    Py_RETURN_NONE;
}
"""
