"""What a trace costs that traces nothing: it begins the first time, begins again, and ends.

Seconds of CPU, each size in a process of its own: a module of so many functions of C, or libraries. At most
61,440 functions are hooked; the others are found and left out.
"""

# SPDX-License-Identifier: MIT
import gc
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "specimens"))

import specimens
from bench import optional, row

SIZES = (10_000, 40_000, 100_000)
LIBRARIES = ("pandas", "sklearn.linear_model", "sklearn.ensemble", "scipy.stats", "pyarrow.parquet")
ROUNDS = 5
FILL = """
#include <Python.h>
#include <stdio.h>
static PyObject *nothing(PyObject *self, PyObject *one) { return Py_NewRef(one); }
static PyObject *fill(PyObject *self, PyObject *count) {
    long n = PyLong_AsLong(count);
    PyMethodDef *rows = calloc((size_t)n, sizeof *rows);
    char *names = malloc((size_t)n * 12);
    PyObject *called = PyUnicode_FromString("trace_many");
    for (long i = 0; i < n; i++) {
        snprintf(names + i * 12, 12, "f%ld", i);
        rows[i] = (PyMethodDef){names + i * 12, nothing, METH_O, NULL};
        PyObject *function = PyCFunction_NewEx(&rows[i], self, called);
        PyModule_AddObject(self, rows[i].ml_name, function);
    }
    Py_RETURN_NONE;
}
"""


def measured() -> tuple[float, float, float]:
    """CPU seconds: the first begin, the least of further begins, the least of their ends."""
    import inspector

    def one() -> tuple[float, float]:
        traced = inspector.trace()
        start = time.process_time()
        traced.__enter__()
        middle = time.process_time()
        traced.__exit__(None, None, None)
        return middle - start, time.process_time() - middle

    gc.collect()  # else the program's own collection may come due meanwhile
    first = one()[0]
    again = [one() for _ in range(ROUNDS)]
    return first, min(begun for begun, _ in again), min(ended for _, ended in again)


def alone(asked: str) -> tuple[float, float, float]:
    """The same in a process of its own: with so many functions, or with the libraries."""
    ran = subprocess.run([sys.executable, __file__, asked], capture_output=True, text=True, check=True)
    first, again, end = map(float, ran.stdout.split())
    return first, again, end


def child(asked: str) -> None:
    """In that process."""
    if asked == "libraries":
        kept = [optional(name) for name in LIBRARIES]
    else:
        module = specimens.build("trace_many", FILL)
        module.fill(int(asked))
        sys.modules["trace_many"] = module
        kept = [module]
    print(*measured(), len(kept) and "")


def main() -> None:
    """Each size, then the libraries."""
    found = {count: alone(str(count)) for count in SIZES}
    for at, (what, bar) in enumerate((("begins first", 1.3), ("begins again", 1.3), ("ends", 1.3))):
        least = found[SIZES[0]][at] / SIZES[0]
        row(f"a trace {what}", found[SIZES[0]][at], sizes=f"{SIZES[0]:,} functions")
        for count in SIZES[1:]:
            told = {"against": f"{SIZES[0]:,}, so many times", "theirs": least * count, "bar": bar}
            row(f"a trace {what}", found[count][at], sizes=f"{count:,} functions", **told)
    if all(map(optional, LIBRARIES)):
        first, again, end = alone("libraries")
        sizes = "pandas, scikit-learn, SciPy, pyarrow"
        row("a trace begins first", first, bar=0.15, sizes=sizes)
        row("a trace begins again", again, bar=0.02, sizes=sizes)
        row("a trace ends", end, bar=0.005, sizes=sizes)


if __name__ == "__main__":
    child(sys.argv[1]) if sys.argv[1:] else main()
