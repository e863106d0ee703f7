"""A weak reference holds nothing: what it points to is leaked all the same. In a process of its own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bad_objects
import pytest
import specimens

from inspector import _native
from inspector.ledger.hidden_owners import hidden_owners

pytestmark = [pytest.mark.core, pytest.mark.quick]

SOURCE = r"""
#include <Python.h>
static PyObject *lose(PyObject *self, PyObject *thing) {
    PyObject *seen = PyObject_Type(thing);
    Py_INCREF(thing);
    Py_RETURN_NONE;
}
"""
SCRIPT = """
import sys, weakref
sys.path.insert(0, {folder!r})
import specimens, inspector
weakly = specimens.build("weakly", {source!r})
class Thing: pass  # the class is in a weak reference too: object.__subclasses__()
thing = Thing()
seen = weakref.ref(thing), weakref.ref(thing, print), weakref.proxy(thing)
with inspector.leaks("weakly") as found:
    weakly.lose(thing)
for one in sorted(found, key=lambda one: one.object):
    print(one.kind, one.object.partition(" ")[0], one.certain)
print(found.fact.kept)
"""


def test_what_only_weak_references_point_to_is_leaked() -> None:
    folder = str(Path(specimens.__file__).parent)
    script = SCRIPT.format(folder=folder, source=SOURCE)
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=100, cwd="/"
    )
    assert done.stdout.splitlines() == ["leaked Thing True", "leaked class True", "()"], (
        done.stdout + done.stderr
    )


class Neighbour:
    __slots__ = ()


def wrong_with_a_neighbour() -> tuple[object, list[Neighbour]]:
    """One that lies, with an object of the gc right behind it: no other memory has it for the nearest."""
    neighbours: list[Neighbour] = []
    for _ in range(100):
        wrong = bad_objects.wrong_basicsize(1 << 40)
        neighbours += [Neighbour() for _ in range(600)]
        if any(0 < id(one) - id(wrong) <= 128 for one in neighbours):
            return wrong, neighbours
    raise AssertionError("no two objects lie beside each other")


def test_a_type_that_tells_more_bytes_than_it_has_hides_nothing() -> None:
    wrong, neighbours = wrong_with_a_neighbour()
    x = ["named by bytes, which hold no reference"]
    kept = [b"-" * 8 * (n % 9) + id(x).to_bytes(8, "little") for n in range(4_000)]
    words = _native.scan_words([(id(x), id(x) + 1)], _native.ledger_rooms(), 1 << 14)[0]
    assert kept and neighbours and any(place > id(wrong) for place, _ in words)
    found = hidden_owners([_native.Subject(x)])
    assert not any("Wrong" in one for one in found.get(id(x), ()))
