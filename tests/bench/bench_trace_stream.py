"""A long run: records one after the other for seconds, and five million a second streamed to a file."""

# SPDX-License-Identifier: MIT
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "specimens"))

import specimens
from bench import best, row

from inspector import _native

PACED = """
#include <Python.h>
#include <time.h>
static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}
static PyObject *paced(PyObject *self, PyObject *args) {
    long times, sum = 0;
    double apart, begin;
    if (!PyArg_ParseTuple(args, "ld", &times, &apart))
        return NULL;
    PyObject *number = PyLong_FromLong(12345);
    begin = now();
    for (long i = 0; i < times; i++) {
        while (apart > 0 && i % 64 == 0 && now() - begin < (double)i * apart) {
        }
        sum += PyLong_AsLong(number);
    }
    Py_DECREF(number);
    return PyFloat_FromDouble(now() - begin);
}
"""
RECORD = 1
RECORDS = 10_000_000
RATE = 5e6


def main() -> None:
    """One core, the ring of a trace, turning over; then the same ring with a reader behind it."""
    module = specimens.build("trace_paced", PACED)
    paths = frozenset([str(module.__file__)])
    _native.ring_begin("", 1 << 19, "last", 1, 1, 64 << 20, -1)
    _native.got_arm(paths, RECORD)
    spent = best(lambda: module.paced(RECORDS, 0.0), 3) / RECORDS
    _native.got_disarm()
    _native.ring_end()
    row("a record, sustained", spent, bar=1 / 4e7, sizes=f"one clock, {RECORDS:,} calls, all of their time")
    with tempfile.TemporaryFile() as file:
        _native.ring_begin("", 1 << 19, "stream", 1, 1, 64 << 20, os.dup(file.fileno()))
        _native.got_arm(paths, RECORD)
        took = module.paced(RECORDS, 1 / RATE)
        _native.got_disarm()
        rows, refused, written, failed = _native.ring_end()
    assert (refused, failed) == (0, 0)
    sizes = f"{RECORDS:,} at {RECORDS / took / 1e6:.1f} million a second, {written:,} bytes written"
    row("streamed to a file: records lost", float(sum(one[3] for one in rows)), bar=0.0, unit="", sizes=sizes)


if __name__ == "__main__":
    main()
