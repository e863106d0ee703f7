"""What a watched write costs, and what a look into another process costs: standing still, and in all."""

# SPDX-License-Identifier: MIT
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from bench import best, row, seconds

from inspector.debugger import preflight
from inspector.sessions import running
from inspector.sessions.trace_attached import Visited

WRITES = 1000
OBJECTS = 200_000
TARGET = (
    f"import sys\nmarked = object()\nkeep = [[i] for i in range({OBJECTS})]\n"
    "row = (1, marked)\nprint('ready', flush=True)\nsys.stdin.readline()"
)


def a_write(budget: int) -> float:
    """Seconds a watched write, the loop's own time taken off."""
    x = np.zeros(1)
    view = memoryview(x)

    def stores() -> float:
        start = time.thread_time()  # what the processor did: others' turns are none of its cost
        for _ in range(WRITES):
            view[0] = 1.0
        return time.thread_time() - start

    plain = min(stores() for _ in range(5))
    with running.writes(x, budget=budget) as found:
        watched = min(stores() for _ in range(5))
    assert found.facts.counted == 5 * WRITES
    return (watched - plain) / WRITES


def a_wide_write(budget: int) -> float:
    """Seconds of processor time a watched write to a range of 32 KiB, by its pages."""
    x = np.zeros(4096)
    view = memoryview(x)
    with running.writes(x, budget=budget) as found:
        start = time.thread_time()
        for i in range(WRITES):
            view[i * 1021 % 4096] = 1.0  # never a neighbour: each is a record
        spent = time.thread_time() - start
    assert found.facts.counted == WRITES
    return spent / WRITES


def visited(other: Visited) -> float:
    """Seconds that a trace of 0.1 s takes more than that."""
    begin = time.perf_counter()
    other.trace(0.1, deadline_s=30.0)
    return time.perf_counter() - begin - 0.1


def command(*words: str) -> None:
    """Run a program of this environment."""
    program = str(Path(sys.executable).parent / words[0])
    subprocess.run([program, *words[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def stacks(pid: int) -> None:
    """Rows of both stacks of another process, as commands: ours and theirs in turn, the best of each."""
    peers = {
        "pystack remote --native": ("pystack", "remote", "--native", str(pid)),
        "py-spy dump --native": ("py-spy", "dump", "--native", "--pid", str(pid)),
    }
    times: dict[str, list[float]] = {name: [] for name in ("ours", *peers)}
    for _ in range(5):
        for name, words in {"ours": ("inspector", "stacks", str(pid)), **peers}.items():
            times[name].append(seconds(lambda words=words: command(*words)))  # type: ignore[misc]
    what, ours = "stacks of another process, native and Python merged: the command", min(times["ours"])
    for name in peers:
        row(what, ours, against=name, theirs=min(times[name]), sizes="best of 5, in turn")


def main() -> None:
    sizes = f"{WRITES:,} writes of 8 bytes, processor time, best of 5"
    row("a watched write, counted", a_write(0), bar=20e-6, sizes=sizes)
    row("a watched write with value and both stacks", a_write(5 * WRITES), bar=45e-6, sizes=sizes)
    sizes = f"{WRITES:,} writes to a range of 32 KiB, processor time, best of 3"
    row("the same by protected pages", min(a_wide_write(2 * WRITES) for _ in range(3)), sizes=sizes)
    command = [sys.executable, "-c", TARGET]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout and child.stdin and child.stdout.readline() == b"ready\n"
        other = running.attach(child.pid)
        still = [other.inspect("row").stopped_ns for _ in range(10)]
        sizes = f"another process with {OBJECTS:,} lists, best of 10"
        least = min(one for one in still if isinstance(one, int))
        row("attach show: the process stands still", least / 1e9, bar=0.6, sizes=sizes)
        row("attach show, all of it", best(lambda: other.inspect("row"), 10), sizes=sizes)
        asked = best(lambda: preflight.check(child.pid), 20)
        row("preflight: may it be traced", asked, bar=0.005, sizes=sizes)
        began = [visited(other) for _ in range(3)]
        row("attach trace: beyond the time it is to last", min(began), sizes="safe point, load, end, read")
        stacks(child.pid)
        row("attach owners", best(lambda: other.owners("marked"), 3), sizes=sizes)
        child.communicate(b"\n")


if __name__ == "__main__":
    main()
