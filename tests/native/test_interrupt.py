"""Ctrl-C ends a walk over the heap or a search of memory, and everything is given back."""

# SPDX-License-Identifier: MIT
import functools
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from inspector import _native
from inspector.objects.ownership.layouts import layouts

pytestmark = pytest.mark.core

INTERRUPTED = r"""
#include <Python.h>
/* The signal waits when the function begins: between the two no bytecode runs, so no handler does. */
static PyObject *call(PyObject *self, PyObject *args) {
    PyObject *function, *arguments;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyTuple_Type, &arguments)) return NULL;
    PyErr_SetInterrupt();
    return PyObject_CallObject(function, arguments); }
"""


@pytest.fixture(scope="module")
def interrupted(specimens: ModuleType) -> ModuleType:
    return specimens.build("interrupted", INTERRUPTED)


@pytest.fixture(scope="module")
def rows() -> Iterator[list[Any]]:
    """Enough objects that a walk asks for signals on its way."""
    made = [[number] for number in range(100_000)]
    yield made
    made.clear()


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    """A process started in the background ignores SIGINT (POSIX, 2.12): Python then has no handler for it."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


class Thing:
    """Held by nobody but its box: a chain to it looks at everything."""


def held() -> tuple[Any, ...]:
    return (_native.Subject(Thing()),), (), layouts(), "/nowhere/"


WALKS: dict[str, Callable[[Any], tuple[Any, tuple[Any, ...]]]] = {
    "census": lambda rows: (_native.census, ((),)),
    "retained": lambda rows: (_native.retained, (_native.Subject(rows),)),
    "retained by types": lambda rows: (_native.retained_by_types, (("list",), ())),
    "chain": lambda rows: (_native.chain, (_native.Subject(Thing()), (), "/nowhere/")),
    "owners": lambda rows: (_native.find_holders, held()),
    "unaligned owners": lambda rows: (functools.partial(_native.find_holders, unaligned=True), held()),
    "addresses in disguise": lambda rows: (
        _native.raw_memory_disguised,
        ([(id(rows), id(rows) + 40)], [(id(rows[0]), id(rows[0]) + 40)], 0),
    ),
}
EVERY = pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS.keys())


@EVERY
def test_a_walk_ends_with_the_signal_that_came(interrupted: ModuleType, rows: list[Any], walk: Any) -> None:
    function, arguments = walk(rows)
    before = sys.getrefcount(rows)
    with pytest.raises(KeyboardInterrupt):
        interrupted.call(function, arguments)
    del function, arguments
    assert gc.isenabled() and sys.getrefcount(rows) <= before
    function, arguments = walk(rows)
    assert function(*arguments) is not None


@pytest.mark.parametrize("name", ["census", "retained", "retained by types", "chain"])
def test_a_walk_says_how_far_it_is_where_somebody_listens(rows: list[Any], name: str) -> None:
    function, arguments = WALKS[name](rows)
    reading, writing = os.pipe()
    try:
        _native.walk_listen(writing, 0)
        function(*arguments)
        assert _native.walk_listen(-1, 0) is True
        assert os.read(reading, 1000).startswith(b"\r visited 0.")
        function(*arguments)
        assert _native.walk_listen(writing, 3_600_000) is False, "nobody listened"
        function(*arguments)
        assert _native.walk_listen(-1, 0) is False, "a short walk says nothing"
    finally:
        os.close(reading)
        os.close(writing)


@EVERY
def test_a_handler_that_raises_nothing_ends_it_too(interrupted: Any, rows: list[Any], walk: Any) -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))  # put back by `usual_handler`
    with pytest.raises(InterruptedError, match="was stopped"):
        interrupted.call(*walk(rows))
    assert heard == [1]
