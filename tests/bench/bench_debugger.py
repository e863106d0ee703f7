"""What a breakpoint costs: attach, a hit counted, a hit with both stacks; beside gdb with its commands."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import row

from inspector import running

HITS = 100
PLACE = "PyFloat_FromString"


def hits() -> float:
    """Seconds for HITS calls that reach the place, and a loop of nothing else."""
    start = time.perf_counter()
    for _ in range(HITS):
        float("1.5")
    return time.perf_counter() - start


def ours(**options: str | bool) -> tuple[float, float, float]:
    """(seconds frozen by attach, seconds a hit, seconds to leave)."""
    with running.breakpoints(PLACE, **options) as session:  # type: ignore[arg-type]
        spent = hits()
        left = time.perf_counter()
    leaving = time.perf_counter() - left
    return session.facts.frozen_ns / 1e9, spent / HITS, leaving


def plain_gdb() -> float:
    """Seconds a hit of gdb with its commands `backtrace` and `continue`: two runs, their difference."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script"
        script.write_text(
            "set pagination off\nset debuginfod enabled off\nset breakpoint pending on\n"
            f"break {PLACE}\ncommands\nsilent\nbacktrace 40\ncontinue\nend\nrun\n"
        )
        times = []
        for count in (1, HITS):
            loop = f"for _ in range({count}):\n    float('1.5')\n"
            command = ["gdb", "-q", "-nx", "-batch", "-x", str(script), "--args", sys.executable, "-c", loop]
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - start)
    return (times[1] - times[0]) / (HITS - 1)


def main() -> None:
    """Print the rows."""
    counted = [ours(record="count") for _ in range(3)]
    full = [ours() for _ in range(3)]
    fast = [ours(fast=True) for _ in range(3)]
    theirs = plain_gdb()
    sizes = f"{HITS} hits, best of 3"
    row("attach: the process stands still", min(one[0] for one in counted), bar=0.6, sizes=sizes)
    row("leave", min(one[2] for one in counted), bar=0.2, sizes=sizes)
    row("a hit, counted", min(one[1] for one in counted), bar=0.0012, sizes=sizes)
    row(
        "a hit with arguments and both stacks",
        min(one[1] for one in full),
        against="gdb: commands, backtrace 40, no Python frames",
        theirs=theirs,
        bar=1.0,
        sizes=sizes,
    )
    row("a hit with both stacks, fast", min(one[1] for one in fast), bar=0.001, sizes=sizes)


if __name__ == "__main__":
    main()
