"""The programs that editor_peers.py debugs; a line is found by the comment at its end."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import specimens

MANY = 120_000
"""Functions of the large extension; pydantic-core's debug build has 123,000."""
TOTAL = r"""
#include <Python.h>
static PyObject *total(PyObject *self, PyObject *list) {
    double sum = 0;
    Py_ssize_t n = PyList_Size(list);
    for (Py_ssize_t i = 0; i < n; i++)
        sum += PyFloat_AsDouble(PyList_GetItem(list, i));
    return PyFloat_FromDouble(sum);
}
"""
PEERED = (
    f"\n#include <time.h>\n#include <unistd.h>{TOTAL}"
    + r"""static PyObject *called(PyObject *self, PyObject *function) {
    return PyObject_CallNoArgs(function);
}
static long judge(long i) {
    return i + 1; // judged
}
static PyObject *hot(PyObject *self, PyObject *count) {
    long sum = 0, n = PyLong_AsLong(count);
    for (long i = 0; i < n; i++)
        sum += judge(i);
    return PyLong_FromLong(sum);
}
static PyObject *written(PyObject *self, PyObject *array) {
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_WRITABLE))
        return NULL;
    ((double *)view.buf)[500] = 5.0;
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}
static PyObject *hold(PyObject *self, PyObject *seconds) {
    time_t end = time(NULL) + PyLong_AsLong(seconds);
    while (time(NULL) < end)
        sleep(1); // a debugger that calls a function interrupts it
    Py_RETURN_NONE;
}
static PyObject *crash(PyObject *self, PyObject *unread) {
    volatile int *nowhere = (int *)16;
    *nowhere = 1;
    Py_RETURN_NONE;
}
"""
)
_IMPORTS = """import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import peered
"""
PROGRAMS = {
    "stepped": _IMPORTS
    + """
class Point:
    def __init__(self):
        self.x, self.y = 3, 4.5

def work(values, table, point, array):
    for _ in range(20):
        peered.total(values)  # CALL
        peered.total(values)
        np.dot(array, array)
        pass

work([1.0] * 50, {"a": 1, "b": [2]}, Point(), np.arange(6.0))
""",
    "awaited": """import asyncio
async def slow():
    await asyncio.sleep(0.05)
    return 1
async def main():
    one = await slow()  # AWAIT
    return one
asyncio.run(main())
""",
    "called_back": _IMPORTS
    + """
def back():
    return 1  # BACK

peered.called(back)
""",
    "hot": _IMPORTS + "peered.hot(int(sys.argv[2]))  # BEGIN\n",
    "written": _IMPORTS + "array = np.ones(1000)\npeered.written(array)  # WRITE\n",
    "forked": """import os
pid = os.fork()
if not pid:
    done = 1  # CHILD
    os._exit(0)
os.waitpid(pid, 0)
done = 2  # PARENT
""",
    "crashes": _IMPORTS + "peered.crash(1)  # BEGIN\n",
    "threaded": """import sys, threading, time
start = time.perf_counter()
for _ in range(int(sys.argv[2])):
    one = threading.Thread(target=int)
    one.start()
    one.join()
print("took", time.perf_counter() - start, flush=True)
""",
    "large": """import sys
sys.path.insert(0, sys.argv[2])
import largely
largely.first(1)  # CALL
""",
}


def line_of(text: str, mark: str) -> int:
    """The number of the line that ends with a mark."""
    return next(n for n, one in enumerate(text.splitlines(), 1) if one.endswith(mark))


def many() -> Path:
    """An extension of many functions, compiled with their lines."""
    first = "#include <Python.h>\nstatic PyObject *first(PyObject *self, PyObject *n) {\n"
    first += "    return PyLong_FromLong(1);\n}\n"
    rest = "".join(f"long function_{n}(long i) {{ return i + {n}; }}\n" for n in range(MANY))
    return specimens.library("largely", first + rest, flags=("-O0",))
