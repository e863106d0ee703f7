"""The C-API hook: what a call costs in each grade, arming and toggling, reading lists by NumPy."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "specimens"))

import numpy as np
import specimens
from bench import row, seconds

from inspector import _native

ALIGNMENTS = 8
LOOP = """
#include <Python.h>
// What a loop of one call takes depends on where its first byte lies: the same loop at eight places.
#define LOOP(at) \\
    static __attribute__((noinline, aligned(64))) long loop_##at(PyObject *number, long n) { \\
        long sum = 0; \\
        __asm__ volatile(".skip 8 * " #at ", 0x90"); \\
        for (long i = 0; i < n; i++) { \\
            sum += PyLong_AsLong(number); \\
        } \\
        return sum; \\
    }
LOOP(0) LOOP(1) LOOP(2) LOOP(3) LOOP(4) LOOP(5) LOOP(6) LOOP(7)
static long (*const loops[])(PyObject *, long) = {
    loop_0, loop_1, loop_2, loop_3, loop_4, loop_5, loop_6, loop_7};
static PyObject *loop_at(PyObject *self, PyObject *args) {
    long at, n;
    if (!PyArg_ParseTuple(args, "ll", &at, &n))
        return NULL;
    PyObject *number = PyLong_FromLong(12345);
    long sum = loops[at % 8](number, n);
    Py_DECREF(number);
    return PyLong_FromLong(sum);
}
static PyObject *loop(PyObject *self, PyObject *times) {
    PyObject *number = PyLong_FromLong(12345);
    long sum = loop_0(number, PyLong_AsLong(times));
    Py_DECREF(number);
    return PyLong_FromLong(sum);
}
"""
CALLS = 200_000
COUNT, RECORD, DEEP = 0, 1, 2
GRADES = {
    # name: (grade or None for off, clocks)
    "off": (None, 0),
    "off again (A/A)": (None, 0),
    "disarmed": (None, 0),
    "count": (COUNT, 0),
    "record": (RECORD, 0),
    "record, one clock": (RECORD, 1),
    "deep, one clock": (DEEP, 1),
    "deep, two clocks": (DEEP, 2),
}


def in_grade(paths: frozenset[str], name: str, body: Callable[[], object]) -> float:
    """Seconds of the body with the slots of `paths` armed; after one that brings the caches back.

    Arming walks the tables of all libraries: the first millisecond after it is slower, hooked or not.
    """
    grade, clocks = GRADES[name]
    _native.ring_begin("", 1 << 16, "last", 1, clocks, 64 << 20, -1)
    try:
        if grade is not None or name == "disarmed":
            _native.got_arm(paths, RECORD if grade is None else grade)
        if grade is None:
            _native.got_disarm()
        body()
        return seconds(body)
    finally:
        _native.got_disarm()
        _native.ring_end()
        _native.interned_clear()


def interleaved(paths: frozenset[str], body: Callable[[], object], rounds: int = 25) -> dict[str, float]:
    """Least seconds of the body in each grade; one of each a round, so that all meet the same load."""
    least = dict.fromkeys(GRADES, float("inf"))
    for _ in range(rounds):
        for name in GRADES:
            least[name] = min(least[name], in_grade(paths, name, body))
    return least


def never_armed(body: Callable[[], object], rounds: int = 15) -> float:
    """Least seconds of the body, in a process that has armed nothing of it yet; as in_grade does it."""

    def one() -> float:
        body()
        return seconds(body)

    return min(one() for _ in range(rounds))


def calls() -> None:
    """A loop in C that calls PyLong_AsLong: seconds a call more than without, the mean of its alignments.

    Never armed is measured first, for all of them: a jump that once led elsewhere may stay slower.
    """
    module = specimens.build("trace_loop", LOOP, flags=("-fno-align-loops",))
    paths = frozenset([str(module.__file__)])
    bodies = [lambda at=at: module.loop_at(at, CALLS // ALIGNMENTS) for at in range(ALIGNMENTS)]
    before, again = (sum(map(never_armed, bodies)) / CALLS for _ in range(2))
    base, spread = min(before, again), max(before, again)
    each = [interleaved(paths, body, 15) for body in bodies]
    least = {name: sum(found[name] for found in each) / CALLS for name in GRADES}
    bars = {"count": 0.5e-9, "record": 5e-9, "record, one clock": 12e-9, "deep, one clock": 20e-9}
    sizes = f"mean of {ALIGNMENTS} alignments of the loop"
    what, disarmed = "PyLong_AsLong, disarmed", least["disarmed"]
    row(what, disarmed, against="never armed", theirs=spread, bar=1.02, sizes=sizes)
    row("PyLong_AsLong, never armed", spread, against="A/A", theirs=base, sizes="the slower of two alike")
    for name, bar in bars.items():
        row(f"PyLong_AsLong, {name}", least[name] - base, bar=bar, sizes="more a call")
    row("PyLong_AsLong, deep, two clocks", least["deep, two clocks"] - base, sizes="more a call")


def grades(name: str, least: dict[str, float], bar: float | None, sizes: str = "") -> None:
    """A row of each grade, against the same work untraced; `bar` is that of recording without a clock."""
    for grade, of, least_bar in (
        ("count", "count", 1.03),
        ("record", "record", bar),
        ("one clock", "record, one clock", None),
        ("deep", "deep, two clocks", None),
    ):
        told = {"against": "untraced", "theirs": least["off"], "bar": least_bar, "sizes": sizes}
        row(f"{name}, {grade}", least[of], **told)


def lists() -> None:
    """np.array of a list, and back."""
    paths = frozenset(path for path in _native.got_objects() if "numpy" in path)
    numbers = [float(n) for n in range(1000)]
    array = np.array(numbers)
    for name, body, bar in (
        ("np.array(list)", lambda: np.array(numbers), 1.3),
        ("a.tolist()", lambda: array.tolist(), 1.6),
    ):
        least = interleaved(paths, lambda body=body: [body() for _ in range(50)])  # type: ignore[misc]
        grades(name, least, bar, "50 x 1,000")


def arming() -> None:
    """Every slot of the loaded modules: found and patched, then patched and restored again."""
    import _decimal
    import pickle

    import pandas

    kept = (_decimal, pickle, pandas)
    paths = frozenset(_native.got_objects())
    first = seconds(lambda: _native.got_arm(paths, RECORD))
    slots = _native.got_disarm()[0]
    share = 3600 / slots
    row("arm", first * share, bar=20e-3, sizes=f"{slots} slots, for 3,600 of them")
    on = min(seconds(lambda: _native.got_arm(paths, RECORD)) + 0 * _native.got_disarm()[0] for _ in range(9))
    times = []
    for _ in range(9):
        _native.got_arm(paths, RECORD)
        times.append(seconds(_native.got_disarm))
    row("toggle on", on * share, bar=0.5e-3, sizes=f"{slots} slots, for 3,600 of them")
    row("toggle off", min(times) * share, bar=0.5e-3, sizes=f"{slots} slots, for 3,600; {len(kept)} modules")


if __name__ == "__main__":
    calls()
    arming()
    lists()
