"""Lazy vectors against NumPy: creation, an element, the mean, its peak memory, materialization."""

# SPDX-License-Identifier: MIT
import subprocess
import sys
import timeit
from collections.abc import Callable

import numpy as np
from bench import row

from inspector import lazy

PEAK = """
import sys, tracemalloc, numpy as np
from inspector import lazy
x = np.zeros(10_000_000); x += 1
f = {"lazy": lambda: np.mean(lazy.abs(x)), "eager": lambda: np.abs(x).mean()}[sys.argv[1]]
np.mean(lazy.abs(x[:100])), np.abs(x[:100]).mean()
def peak():
    return 1024 * int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
before = peak()
tracemalloc.start()
f()
print(tracemalloc.get_traced_memory()[1], peak() - before)
"""


def each(function: Callable[[], object], number: int, repeat: int = 7) -> float:
    """Seconds a call: the best of `repeat` rounds of `number` calls."""
    return min(timeit.repeat(function, repeat=repeat, number=number)) / number


def creation() -> None:
    """O(1): 50 times faster than np.abs of 1e5 doubles, and as fast for 1e7."""
    small, large = np.random.standard_normal(100_000), np.random.standard_normal(10_000_000)
    ours, eager = each(lambda: lazy.abs(small), 5000), each(lambda: np.abs(small), 100)
    row("lazy.abs(x)", ours, against="np.abs(x)", theirs=eager, bar=1 / 50, sizes="1e5 doubles")
    longer = each(lambda: lazy.abs(large), 5000)
    row("lazy.abs(x)", longer, against="of 1e5 doubles", theirs=ours, bar=1.2, sizes="1e7 doubles")


def elements() -> None:
    """An element as a Python number."""
    x = np.random.standard_normal(100_000)
    y = lazy.abs(x)
    theirs = each(lambda: x[5], 50_000)
    row("lazy.abs(x)[5]", each(lambda: y[5], 50_000), against="x[5]", theirs=theirs, bar=1.5)


def means() -> None:
    """One read of memory, nothing written."""
    for n, bar, number in ((10**5, 1.0, 100), (10**7, 0.25, 1), (5 * 10**7, 0.25, 1)):
        x = np.random.standard_normal(n)
        sizes = f"{n:.0e} doubles"
        theirs = each(lambda: np.abs(x).mean(), number)
        ours = each(lambda: np.mean(lazy.abs(x)), number)
        row("np.mean(lazy.abs(x))", ours, against="np.abs(x).mean()", theirs=theirs, bar=bar, sizes=sizes)
        eager, ours = each(lambda: np.abs(x), number, 3), each(lambda: lazy.abs(x).dataptr(), number, 3)
        row("materialize lazy.abs(x)", ours, against="np.abs(x)", theirs=eager, sizes=sizes)


def memory() -> None:
    """Peak of the mean of 1e7 doubles, in a process of its own: traced by Python, and resident."""
    peaks = {}
    for how in ("eager", "lazy"):
        command = [sys.executable, "-P", "-c", PEAK, how]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        peaks[how] = [int(number) for number in told.split()]
    for kind, ours, theirs in zip(("traced", "resident"), peaks["lazy"], peaks["eager"], strict=True):
        row(f"peak of the mean, {kind}", ours, unit="B", bar=1_000_000, sizes="1e7 doubles, lazy")
        row(f"peak of the mean, {kind}", theirs, unit="B", sizes="1e7 doubles, np.abs(x).mean()")


if __name__ == "__main__":
    creation()
    elements()
    means()
    memory()
