"""Blocks that begin with a link of malloc's own lists: live ones keep what they name, freed ones do not."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

import pytest
import specimens

import inspector
from inspector.ledger.raw_memory import RUNS_MAX, RawMemory

pytestmark = pytest.mark.core

SOURCE = r"""
#include <Python.h>
#include <stdlib.h>
#include <string.h>
enum { HOLDERS = 20 };
struct holder {
    void *never_written[1], *other, *block;
    char rest[48];
};
static struct holder *volatile holders[HOLDERS];
static void *volatile used;
// Each takes the place of a freed one, as the last of its list: its first word is the list's end.
static PyObject *prepare(PyObject *self, PyObject *unused) {
    for (int i = 0; i < HOLDERS; i++) {
        used = malloc(sizeof(struct holder));
        free(used);
        holders[i] = malloc(sizeof(struct holder));
        holders[i]->other = holders[i]->block = NULL;
    }
    Py_RETURN_NONE;
}
static PyObject *fill(PyObject *self, PyObject *unused) {
    for (int i = 0; i < HOLDERS; i++) { holders[i]->block = memset(malloc(200), 1, 200); }
    Py_RETURN_NONE;
}
// More than a thread's cache takes: the rest lies in a fast bin, with what it named.
static PyObject *drop(PyObject *self, PyObject *unused) {
    fill(self, NULL);
    for (int i = 0; i < HOLDERS; i++) {
        free(holders[i]);
        holders[i] = NULL;
    }
    Py_RETURN_NONE;
}
"""


def test_a_live_block_whose_first_word_nobody_wrote_keeps_what_it_names() -> None:
    chunks: Any = specimens.build("chunks", SOURCE)
    chunks.prepare()
    with inspector.leaks("chunks") as found:
        chunks.fill()
    assert not found.verdicts


def test_freed_blocks_in_a_list_of_mallocs_keep_nothing() -> None:
    chunks: Any = specimens.build("chunks", SOURCE)
    chunks.prepare()
    with inspector.leaks("chunks") as found:
        chunks.drop()
    (lost,) = found.verdicts
    assert lost.certain and lost.objects == 20


def test_more_runs_than_a_block_can_number() -> None:
    outside = RawMemory()
    outside.open()
    try:
        for _ in range(RUNS_MAX + 5):
            outside.begin_run()
            outside.end_run()
        assert outside.runs == RUNS_MAX
    finally:
        outside.close()
