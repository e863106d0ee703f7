"""What `leaks` costs while it watches, and how soon it judges, beside valgrind and a debug build's counts."""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "specimens"))

import specimens
from bench import row, seconds
from leak_corpus import SOURCE

import inspector

GCD = r"""
#include <Python.h>
static PyObject *gcd(PyObject *self, PyObject *const *numbers, Py_ssize_t count) {
    long x = PyLong_AsLong(numbers[0]), y = PyLong_AsLong(numbers[1]);
    while (y) { long rest = x % y; x = y; y = rest; }
    return PyLong_FromLong(x);
}
"""
LEAK = "import leak_corpus; leak_corpus.key_not_released({})"
JUDGED = f"""
import inspector
with inspector.leaks("leak_corpus") as found:
    {LEAK}
assert found.verdicts[0].certain
"""
COUNTED = f"""
import sys
for _ in range(6):
    {LEAK}
    print(sys.gettotalrefcount())
"""
ROUNDS = 15
DEBUG, VALGRIND = "/usr/bin/python3-dbg", shutil.which("valgrind")


def twice(body: Callable[[], object]) -> tuple[float, float]:
    """The first call, and the least of the next three."""
    # of CPU: a busy machine decides nothing
    first, *further = (seconds(body, time.process_time) for _ in range(4))
    return first, min(further)


def cost(what: str, bar: float, modules: tuple[str, ...], body: Callable[[], object], sizes: str) -> None:
    """Least seconds of the body with and without, one of each a round; arming and closing are apart.

    Both work through the processor's caches, so the call that comes next is slow, watched or not (after
    gc.collect() alone a groupby takes 2.7 times as long). A block's first call is compared with the first
    call after a block, further ones with further ones.
    """
    body()
    least = dict.fromkeys(("first", "further", "watched first", "watched further", "apart"), float("inf"))
    for _ in range(ROUNDS):
        start = time.process_time()
        with inspector.leaks(*modules):
            pass
        apart = time.process_time() - start
        first, further = twice(body)
        with inspector.leaks(*modules):
            watched = twice(body)
        for name, took in zip(least, (first, further, *watched, apart), strict=True):
            least[name] = min(least[name], took)
    for name, words in (("further", "a further call of a block"), ("first", "its first call")):
        told = f"{what}, under leaks, {words}"
        row(told, least[f"watched {name}"], against="without", theirs=least[name], bar=bar, sizes=sizes)
    row(f"{what}: a block that holds nothing (arming, closing)", least["apart"], sizes=sizes)


def costs() -> None:
    """The loop and the library call of the promise."""
    import numpy as np
    import pandas as pd

    gcd = specimens.build("gcds", GCD).gcd

    def loop() -> None:
        for _ in range(20_000):
            gcd(35, 42)

    cost("a loop of gcd(35, 42)", 3, ("gcds",), loop, "20,000 calls, 3 C-API calls each")
    for count in (1_000, 1_000_000):
        numbers = np.arange(count)
        frame = pd.DataFrame({"k": numbers % 7, "x": numbers * 0.5})

        def summed(frame: Any = frame) -> Any:
            return frame.groupby("k").sum()

        cost("DataFrame.groupby().sum()", 1.3, ("pandas",), summed, f"{count:,} rows")


def process(python: str, code: str, folder: str, *before: str, **more: str) -> float:
    """Seconds of the fastest of three processes, from start to end."""
    environment = {**os.environ, "PYTHONPATH": folder, **more}
    command = [*before, python, "-c", code]
    options: dict[str, Any] = {"check": True, "capture_output": True, "timeout": 600, "env": environment}
    return min(seconds(lambda: subprocess.run(command, **options)) for _ in range(3))


def build(folder: str, python: str) -> None:
    """The corpus, compiled for a Python."""
    asked = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
    include, suffix = subprocess.check_output([python, "-c", asked], text=True).split()
    source, target = Path(folder, "leak_corpus.c"), Path(folder, f"leak_corpus{suffix}")
    source.write_text(specimens.completed("leak_corpus", SOURCE))
    subprocess.run(["gcc", *specimens.FLAGS, f"-I{include}", str(source), "-o", str(target)], check=True)


def verdicts() -> None:
    """From the start of a process to what it says of one call that forgets a Py_DECREF."""
    theirs: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        build(folder, sys.executable)
        ours = process(sys.executable, JUDGED, folder)
        if VALGRIND:
            words = (VALGRIND, "--leak-check=full")
            theirs["valgrind"] = process(sys.executable, LEAK, folder, *words, PYTHONMALLOC="malloc")
        if Path(DEBUG).exists():
            build(folder, DEBUG)
            theirs["a debug build, 3 + 3 runs"] = process(DEBUG, COUNTED, folder)
    row("time to verdict, whole process", ours, sizes="key_not_released")
    for peer, took in theirs.items():
        row("time to verdict, whole process", ours, against=peer, theirs=took, sizes="key_not_released")


if __name__ == "__main__":
    costs()
    verdicts()
