"""Several blocks of one place, of which some are kept by their address in disguise."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

import pytest
import specimens

import inspector

pytestmark = pytest.mark.core
SOURCE = r"""
#include <Python.h>
#include <stdlib.h>
enum { MANY = 10 };
static volatile uintptr_t inverted[MANY];
// So many blocks, of which the first `kept` are known by their address with all bits turned.
static PyObject *make(PyObject *self, PyObject *args) {
    int many, kept;
    if (!PyArg_ParseTuple(args, "ii", &many, &kept)) { return NULL; }
    for (int i = 0; i < many; i++) {
        volatile uintptr_t *block = malloc(200); // leaks: make
        block[0] = 0;
        inverted[i] = i < kept ? ~(uintptr_t)block : 0;
        block = NULL;
    }
    Py_RETURN_NONE;
}
"""


@pytest.mark.parametrize(("many", "kept", "lost"), [(2, 1, 1), (4, 1, 3), (4, 3, 1), (10, 10, 0), (1, 1, 0)])
def test_each_that_was_looked_for_speaks_for_itself(many: int, kept: int, lost: int) -> None:
    module: Any = specimens.build("disguised", SOURCE)
    with inspector.leaks("disguised") as found:
        module.make(many, kept)
    assert [(one.kind, one.certain) for one in found] == [("bytes leaked outside objects", True)] * bool(lost)
    assert all(1 <= one.objects <= lost for one in found)  # an old word may name one of them
