"""What a breakpoint costs: attach, leave, a hit counted or with both stacks; by the processor and by gdb."""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import best, row, seconds

from inspector.debugger.session import Breakpoints
from inspector.sessions import running

HITS = 100
PLACE, ELSEWHERE = "PyFloat_FromString", "PyList_Reverse"
ROUNDS = 3
GDB = ["gdb", "-q", "-nx", "-nh", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]


def hits(count: int = HITS) -> float:
    """Seconds for so many calls that reach the place, and a loop of nothing else."""
    start = time.perf_counter()
    for _ in range(count):
        float("1.5")
    return time.perf_counter() - start


def by_gdb(**options: str | bool) -> tuple[float, float, float, float]:
    """(seconds frozen by attach, seconds a hit, seconds to add a place, seconds to leave)."""
    with Breakpoints(PLACE, pid=os.getpid(), **options) as session:  # type: ignore[arg-type]
        hits(1)  # gdb reads symbols, as a peer does: "the first merged stack" of bench_stepping.py
        spent = hits()
        added = seconds(lambda: session.add(ELSEWHERE))
        left = time.perf_counter()
    return session.facts.frozen_ns / 1e9, spent / HITS, added, time.perf_counter() - left


def by_processor(record: str) -> float:
    """Seconds a hit."""
    with running.breakpoints(PLACE, record=record) as session:
        spent = hits()
    assert session.facts.means != "gdb"
    return spent / HITS


def not_hit() -> tuple[float, float]:
    """Seconds of a loop under a session of gdb whose place it does not reach, and before it."""

    def loop() -> None:
        for i in range(200_000):
            str(i)

    before = best(loop, 7)
    with Breakpoints(ELSEWHERE, pid=os.getpid()):
        during = best(loop, 7)
    return during, min(before, best(loop, 7))


def started() -> None:
    """gdb with its Python, and nothing else."""
    subprocess.run([*GDB, "-ex", "python pass"], stdout=subprocess.DEVNULL, check=True)


def plain_gdb() -> float:
    """Seconds a hit of gdb with Python commands, `backtrace` and `continue`: two runs, their difference."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script"
        script.write_text(
            "set pagination off\nset breakpoint pending on\n"
            f"break {PLACE}\ncommands\nsilent\npython gdb.execute('backtrace 40')\ncontinue\nend\nrun\n"
        )
        command = [*GDB, "-x", str(script), "--args", sys.executable, "-c"]
        return difference(lambda loop: subprocess.run([*command, loop], capture_output=True, check=True))


def difference(run: Callable[[str], object]) -> float:
    """Seconds a hit: runs with HITS and runs with one, the fastest of each."""
    times = [best(lambda: run(_calls(count)), 2) for count in (1, HITS)]
    return (times[1] - times[0]) / (HITS - 1)


def _calls(count: int) -> str:
    return f"for _ in range({count}):\n    float('1.5')\n"


def by_pipes() -> float:
    """Seconds a hit of gdb's machine interface: stopped, frames asked for, continued, over two pipes."""
    command = [*GDB[:4], "-i=mi", "--args", sys.executable, "-c", _calls(HITS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as child:  # type: ignore[call-overload]
        for line in ("-gdb-set breakpoint pending on", f"-break-insert -f {PLACE}", "-exec-run"):
            _say(child, line)
        stops = [time.perf_counter() for _ in _stops(child)]
        _say(child, "-gdb-exit")
    assert len(stops) == HITS
    return (stops[-1] - stops[0]) / (HITS - 1)


def _stops(child: subprocess.Popen[str]) -> Iterator[str]:
    """Each stop, its frames asked for; until the program has ended."""
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("*stopped"):
            if "exited" in line:
                return
            yield line
            _say(child, "-stack-list-frames 0 40")
        elif line.startswith("^done,stack="):
            _say(child, "-exec-continue")


def _say(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()


def main() -> None:
    sizes = f"{HITS} hits, best of {ROUNDS}"
    row("gdb starts with its Python", best(started, 5), bar=0.15, sizes="best of 5")
    counted = [by_gdb(record="count") for _ in range(ROUNDS)]
    stacks = [by_gdb(record="stacks") for _ in range(ROUNDS)]
    full = [by_gdb() for _ in range(ROUNDS)]
    row("attach: the process stands still", min(one[0] for one in counted), bar=0.6, sizes=sizes)
    row("a place added while it runs", min(one[2] for one in counted), bar=0.065, sizes=sizes)
    row("leave: detached, all read, gdb ended", min(one[3] for one in counted), bar=0.03, sizes=sizes)
    row("a hit by gdb, counted", min(one[1] for one in counted), bar=0.0012, sizes=sizes)
    row("a hit by gdb, both stacks", min(one[1] for one in stacks), bar=0.002, sizes=sizes)
    ours, what = min(one[1] for one in full), "a hit by gdb, arguments and both stacks"
    peer = "gdb with Python commands, no Python frames"
    row(what, ours, against=peer, theirs=plain_gdb(), bar=1.0, sizes=sizes)
    row(what, ours, against="gdb's MI over pipes, no Python frames", theirs=by_pipes(), sizes=sizes)
    fast = min(by_gdb(record="count", fast=True)[1] for _ in range(ROUNDS))
    row("a hit by gdb, counted, fast", fast, bar=0.00035, sizes=sizes)
    fast = min(by_gdb(record="stacks", fast=True)[1] for _ in range(ROUNDS))
    row("a hit by gdb, both stacks, fast", fast, bar=0.001, sizes=sizes)
    for record in ("count", "stacks"):
        spent = min(by_processor(record) for _ in range(ROUNDS))
        row(f"a hit by the processor, record={record!r}", spent, bar=30e-6, sizes=sizes)
    during, before = not_hit()
    row("a loop without a hit under gdb", during, against="without", theirs=before, bar=1.01, sizes="200,000")


if __name__ == "__main__":
    main()
