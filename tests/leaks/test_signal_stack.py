"""What a signal left on the stack that handlers run on: dead words, which hold no object and no block."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
#include <signal.h>
#include <stdlib.h>
enum { BYTES = 1 << 16, WORDS = BYTES / sizeof(uintptr_t) };
static uintptr_t *volatile words;
static stack_t before;
static PyObject *give(PyObject *self, PyObject *unused) { // the thread has this alternate stack from now on
    words = calloc(1, BYTES);
    stack_t stack = {.ss_sp = words, .ss_size = BYTES};
    return PyLong_FromLong(sigaltstack(&stack, &before));
}
static PyObject *take(PyObject *self, PyObject *unused) {
    int failed = sigaltstack(&before, NULL);
    free(words);
    return PyLong_FromLong(failed);
}
static PyObject *forget(PyObject *self, PyObject *unused) {
    uintptr_t *volatile block = malloc(200); // leaks: forget
    block[0] = 0;
    words[WORDS - 100] = (uintptr_t)block;
    words[WORDS - 99] = (uintptr_t)block | (uintptr_t)1 << 63;
    block = NULL;
    Py_RETURN_NONE;
}
static PyObject *keep(PyObject *self, PyObject *object) {
    words[WORDS - 98] = (uintptr_t)object;
    return PyLong_FromVoidPtr(words + WORDS - 98);
}
"""


@pytest.fixture
def stack() -> Iterator[Any]:
    module: Any = specimens.build("signalstack", SOURCE)
    assert module.give() == 0
    yield module
    assert module.take() == 0


def test_a_lost_block_is_told_though_its_address_was_in_a_register_at_a_fault(stack: Any) -> None:
    with inspector.leaks("signalstack") as found:
        stack.forget()
    (one,) = found
    assert (one.kind, one.certain) == ("bytes leaked outside objects", True)


def test_a_word_of_a_signal_that_is_over_owns_no_object(stack: Any) -> None:
    value = object()
    word = stack.keep(value)
    found = inspector.owners(value, scan=True).owners
    assert [one.kind for one in found if one.certain] == ["local"]
    assert word not in [one.address for one in found]
