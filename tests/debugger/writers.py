"""A C extension that writes to memory: once, without the GIL, by repeated stores."""

# SPDX-License-Identifier: MIT
WRITERS = r"""
#define _GNU_SOURCE
#include <Python.h>
#include <signal.h>
#include <stdint.h>
__attribute__((noinline)) void wide_store(long address, long value) {
    *(volatile long *)address = value;
    __asm__ volatile("" ::: "memory");
}
static PyObject *store(PyObject *self, PyObject *args) {
    long address, value;
    if (!PyArg_ParseTuple(args, "ll", &address, &value)) return NULL;
    wide_store(address, value);
    Py_RETURN_NONE;
}
static PyObject *storm(PyObject *self, PyObject *args) { /* no GIL; `blocked`: with SIGTRAP blocked */
    long address, count; int blocked; sigset_t all, old;
    if (!PyArg_ParseTuple(args, "llp", &address, &count, &blocked)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    sigfillset(&all);
    if (blocked) pthread_sigmask(SIG_BLOCK, &all, &old);
    for (long i = 0; i < count; i++) *(volatile long *)(address + i % 64 * 8) += 1;
    if (blocked) pthread_sigmask(SIG_SETMASK, &old, NULL);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
#define REPEAT(name, moved, stored) \
    static void name(long to, long from, long count, long value) { \
        if (from) __asm__ volatile("rep " moved : "+D"(to), "+S"(from), "+c"(count) :: "memory"); \
        else __asm__ volatile("rep " stored : "+D"(to), "+c"(count) : "a"(value) : "memory"); \
    }
REPEAT(bytes, "movsb", "stosb") REPEAT(words, "movsw", "stosw")
REPEAT(longs, "movsl", "stosl") REPEAT(quads, "movsq", "stosq")
static PyObject *repeat(PyObject *self, PyObject *args) {
    long width, to, from, count, value;
    if (!PyArg_ParseTuple(args, "lllll", &width, &to, &from, &count, &value)) return NULL;
    (width == 1 ? bytes : width == 2 ? words : width == 4 ? longs : quads)(to, from, count, value);
    Py_RETURN_NONE;
}
"""
