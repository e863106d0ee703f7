"""Owners that keep an object where no pointer is aligned: packed C structs, records without padding."""

# SPDX-License-Identifier: MIT
import functools
import mmap
from types import ModuleType
from typing import Any

import numpy
import pytest
import specimens
import unnamed

from inspector import _native
from inspector.facts.refs import Scan
from inspector.objects.ownership.layouts import layouts
from inspector.objects.probes.refs import HITS_MAX, owners

pytestmark = pytest.mark.core


PACKED = r"""
#include <Python.h>
#include <string.h>
typedef struct __attribute__((packed)) { char tag[5]; PyObject *volatile kept; char more[3]; } entry;
static entry cache[10];
static entry *volatile block;
static entry *entries(int in_block) {
    if (!block) block = calloc(10, sizeof *block);
    return in_block ? block : cache; }
#define GIVEN PyObject *o; int n, in_block; \
    if (!PyArg_ParseTuple(args, "Oip", &o, &n, &in_block)) return NULL;
static PyObject *hide(PyObject *self, PyObject *args) { GIVEN
    for (int i = 0; i < n; i++) { Py_INCREF(o); entries(in_block)[i].kept = o; } Py_RETURN_NONE; }
static PyObject *release(PyObject *self, PyObject *args) { GIVEN
    for (int i = 0; i < n; i++) { entries(in_block)[i].kept = NULL; Py_DECREF(o); } Py_RETURN_NONE; }
"""
FIRST = 5
"""Where the first reference stands: at 5, 21, 37 ..., never at a multiple of 8."""


@pytest.fixture(scope="module")
def packed() -> ModuleType:
    return specimens.build("packed", PACKED)


@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("in_block", [False, True], ids=["static", "block"])
def test_the_gap_is_exact(packed: ModuleType, in_block: bool, count: int) -> None:
    subject = unnamed.boxed()
    packed.hide(subject.get(), count, in_block)
    found = owners(subject, scan=True)
    assert (found.references, found.named, found.native, found.unstored) == (count, 0, count, 0)
    assert [(one.kind, one.certain, one.references) for one in found] == [
        ("heap block" if in_block else "static", False, 1)
    ] * count
    assert all(one.key.endswith(", unaligned") for one in found)
    if not in_block:
        assert [one.key for one in found] == [f"cache+{FIRST + 16 * i:#x}, unaligned" for i in range(count)]
        assert all(one.library == packed.__file__ for one in found)
    packed.release(subject.get(), count, in_block)
    assert owners(subject, scan=True).owners == ()


@pytest.mark.parametrize("before", range(1, 8))
def test_each_of_the_seven_places_is_read(before: int) -> None:
    records = numpy.zeros(1, [("tag", f"S{before}"), ("kept", "O")])
    subject = unnamed.boxed()
    records["kept"] = subject.get()
    found = owners(subject, scan=True)
    assert (found.references, found.native, found.unstored) == (1, 1, 0)
    assert found.owners[0].address % 8 == before


def test_memory_is_read_once_more_only_for_a_gap(packed: ModuleType) -> None:
    subject = unnamed.boxed()
    held = [subject.get()]
    explained = owners(subject, scan=True).scan
    packed.hide(subject.get(), 1, True)
    with_gap = owners(subject, scan=True).scan
    packed.release(subject.get(), 1, True)
    assert isinstance(explained, Scan) and isinstance(with_gap, Scan) and held
    assert with_gap.scanned_bytes > 1.4 * explained.scanned_bytes


STRAYS = 130_000
"""Copies of the address in memory of no allocator: to look at each takes more than 0.1 s in all."""


def test_the_second_reading_tells_its_progress_and_may_be_stopped(packed: ModuleType) -> None:
    """What was found before Python code ran is asked again: the callback lets one of three references go."""
    subject = unnamed.boxed()
    packed.hide(subject.get(), 3, True)
    stray = b"\1" + id(subject.get()).to_bytes(8, "little")
    ballast = mmap.mmap(-1, 9 * STRAYS, mmap.MAP_PRIVATE)
    ballast.write(stray * STRAYS)
    told: list[tuple[int, int]] = []

    def lets_go(done: int, total: int) -> None:
        if not told:
            packed.release(subject.get(), 1, True)
        told.append((done, total))

    search = functools.partial(
        _native.find_holders, (subject,), (), layouts(), "/nowhere/", HITS_MAX, unaligned=True
    )
    found, did = search(lets_go)
    places = [row[8] for row in found if row[1] == "block"]
    assert told and all(0 < done <= total for done, total in told) and did["interrupted"]
    assert len(places) == 2 and places[1] - places[0] == 16, "the first of three was let go"
    with pytest.raises(InterruptedError, match="stopped"):
        search(lambda done, total: False)
    packed.hide(subject.get(), 1, True)
    packed.release(subject.get(), 3, True)
    ballast.close()


def test_ordinary_objects_seem_to_stand_nowhere_unaligned() -> None:
    """Functions and methods too, though the bytecode that calls them keeps their addresses unaligned."""
    objects: list[Any] = [make() for make in (unnamed.Thing, list, dict, set, object) for _ in range(16)]
    objects += [unnamed.Thing, owners, print, dict, test_each_of_the_seven_places_is_read, pytest]
    objects += [
        f"text {n}" for n in range(14)
    ]  # no letters: their addresses are as small as numbers by chance
    assert len(objects) == 100
    for one in objects:
        subject = _native.Subject(one)
        found, _did = _native.find_holders((subject,), (), layouts(), "/nowhere/", unaligned=True)
        assert found == [], type(one)
