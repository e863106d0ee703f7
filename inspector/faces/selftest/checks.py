"""The checks: each asks the product and a second method that does not use it, and says what agreed.

AssertionError: the two differ. InspectorError or ImportError: it cannot be tried here.
"""

# SPDX-License-Identifier: MIT
import ctypes
import mmap
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import inspector

_MANY = 50
_TOGGLES = 20
_LEAK = """
PyObject *keeps(PyObject *x) {
    Py_INCREF(x);
    return PyLong_FromLong(PyObject_IsTrue(x));
}
"""
_CHILD = """
import time
held = {"k": [1, 2, 3]}
def waits_here():
    print("ready", flush=True)
    time.sleep(60)
waits_here()
"""


def refcount() -> str:
    """A count for each number of holders, as `sys.getrefcount` gives it."""
    x, holders = object(), []
    of_call = sys.getrefcount(x) - 1  # from 3.14 the call lends its argument
    for _ in range(_MANY):
        holders.append(x)
        mine, theirs = inspector.refcount(x), sys.getrefcount(x) - of_call
        assert mine == theirs, f"{mine} references, sys.getrefcount says {theirs}"
    return f"{_MANY} counts agree with sys.getrefcount"


def owners() -> str:
    """A list, an attribute and a C array hold the object: the search finds the three, and nothing else."""
    rows = [type("Subject", (), {})()]
    keeper, pointers = SimpleNamespace(held=rows[0]), (ctypes.py_object * 1)(rows[0])
    found = inspector.owners(rows[0], scan=True)
    left, many = (found.native, found.unstored), sys.getrefcount(keeper.held) - 1
    assert (len(found.owners), left) == (3, (0, 0)), f"{len(found.owners)} of 3 holders, {left} besides"
    assert many == 3 and pointers[0] is rows[0], f"{many} references by sys.getrefcount"
    return f"3 of 3 holders found in {found.scan.scanned_bytes / 1e6:.0f} MB"


def shares() -> str:
    """Random strided views of one array, as `numpy.shares_memory` judges them."""
    import numpy as np

    whole, chance = np.zeros((12, 12)), np.random.default_rng(1)
    for _ in range(_MANY):
        a, b, c, d = (int(n) for n in chance.integers(1, 5, 4))
        one, other = whole[a::c, b::d], whole[b::d, a::c]
        mine, theirs = inspector.shares(one, other).overlap, np.shares_memory(one, other)
        assert mine is theirs, f"{mine}, numpy.shares_memory says {theirs}"
    return f"{_MANY} pairs of views agree with numpy.shares_memory"


def residency() -> str:
    """Of 64 pages, those that were written are in memory."""
    memory = mmap.mmap(-1, 64 * mmap.PAGESIZE)
    for page in range(0, 64, 4):
        memory[page * mmap.PAGESIZE] = 1
    found = inspector.materialization(memory).resident_bytes
    assert found == 16 * mmap.PAGESIZE, f"{found} bytes, 16 pages of {mmap.PAGESIZE} were written"
    return f"16 of 64 pages of {mmap.PAGESIZE} B, those that were written"


def account() -> str:
    """The rows of the account sum to what the kernel counts as resident, before and after."""
    before = _resident_bytes()
    total = sum(row.resident_bytes for row in inspector.memory().rows)
    after = _resident_bytes()
    assert 0.99 * before <= total <= 1.01 * after, f"{total} B in rows, the kernel counts {before} to {after}"
    return f"rows of {total / 1e6:.1f} MB, the kernel counts {before / 1e6:.1f} to {after / 1e6:.1f} MB"


def _resident_bytes() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


def lazy() -> str:
    """A lazy vector is not there before it is used, and then has the values that NumPy computes."""
    import numpy as np

    whole = np.arange(-1e5, 1e5)
    made = inspector.lazy.abs(whole)
    before = inspector.materialization(made).state
    assert before == "lazy", f"state {before} before its use"
    assert np.array_equal(np.asarray(made), np.abs(whole)), "other values than numpy.abs"
    return f"{whole.size:,} values agree with numpy.abs, none there before"


def trace() -> str:
    """A copy and an alias are told apart, as the addresses do."""
    import numpy as np

    whole = np.arange(1e5)
    with inspector.trace("numpy") as found:
        copy, same = np.array(whole), np.asarray(whole)
    copied = sum(one.copied_bytes for one in found.copies)
    assert copy.ctypes.data != whole.ctypes.data == same.ctypes.data
    assert copied == copy.nbytes, f"{copied} bytes copied, {copy.nbytes} lie elsewhere"
    return f"1 of 2 calls copied, {copied:,} B, as the addresses say"


def toggles() -> str:
    """Hooks come and go while four threads call: every call is answered, and none is hooked afterwards."""
    import numpy as np

    wrong: list[float] = []
    stop = threading.Event()
    whole = np.arange(100.0)

    def calls() -> None:
        while not stop.is_set():
            wrong.extend(one for one in (np.array(whole).sum(),) if one != 4950.0)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for one in threads:
        one.start()
    before, interval = np.array, sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    for _ in range(_TOGGLES):
        with inspector.trace("numpy"):
            np.array(whole)
    stop.set()
    sys.setswitchinterval(interval)
    for one in threads:
        one.join()
    assert not wrong and np.array is before, f"{len(wrong)} wrong results"
    return f"armed and disarmed {_TOGGLES} times under 4 threads, no wrong result"


def leaks() -> str:
    """A reference that C code keeps is told, in its function; `sys.getrefcount` sees it too."""
    module = inspector.compile_c(_LEAK)
    x: list[int] = []
    before = sys.getrefcount(x)
    with inspector.leaks(module) as found:
        module.keeps(x)
    grown, told = sys.getrefcount(x) - before, [one.method for one in found.certain]
    assert grown == 1 and told == [f"{module.__name__}.keeps"], f"{grown} reference kept, told: {told}"
    return "1 reference that C kept is told, and sys.getrefcount grew by 1"


def watchpoint() -> str:
    """Each write to eight bytes is seen: by the processor's watchpoint, or by the page."""
    import numpy as np

    return _written(np.zeros(8)[3:4], [0] * 10)


def pages() -> str:
    """Each write to a range of pages is seen."""
    import numpy as np

    return _written(np.zeros(100_000), list(range(0, 100_000, 20_000)))


def _written(x: Any, places: list[int]) -> str:
    with inspector.writes(x) as found:
        for number, place in enumerate(places, 1):
            x[place] = number
    seen = len(list(found))
    assert seen == len(places), f"{seen} writes seen, {len(places)} were made"
    return f"{seen} of {len(places)} writes seen"


def clock() -> str:
    """A call that sleeps takes as long in the trace as by `time.monotonic`."""
    began = time.monotonic_ns()
    with inspector.trace("time") as found:
        time.sleep(0.1)
    whole = time.monotonic_ns() - began
    slept = max((call.ns for call in found.calls), default=0)
    assert 99e6 < slept <= whole, f"{slept / 1e6:.1f} ms, time.monotonic says at most {whole / 1e6:.1f}"
    return f"a sleep of 100 ms is recorded as {slept / 1e6:.1f} ms"


def attach() -> str:
    """Another process, read from outside: a dict of it, and the function in which it waits."""
    child = subprocess.Popen([sys.executable, "-c", _CHILD], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        remote = inspector.attach(child.pid)
        value, stacks = str(remote.inspect("held")), str(remote.stacks())
    finally:
        child.kill()
        child.wait()
    assert "waits_here" in stacks and "dict" in value, "its dict or its function was not found"
    return "a dict of another process and the function in which it waits"


def gdb() -> str:
    """Breakpoints in C are hit as often as the function is called."""
    rows: list[int] = []
    append = ctypes.pythonapi.PyList_Append
    with inspector.breakpoints("PyList_Append", record="count") as found:
        for number in range(3):
            append(ctypes.py_object(rows), ctypes.py_object(number))
    hits = sum(place.hits for place in found.facts.places)
    assert hits >= len(rows) == 3, f"{hits} hits of {len(rows)} calls"
    return f"{hits} hits of PyList_Append in {len(rows)} calls of it and what else ran"
