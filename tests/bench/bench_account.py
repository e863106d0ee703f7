"""The account of a process: processor time and memory that it takes, on 1e6 and 1e7 objects."""

# SPDX-License-Identifier: MIT
import multiprocessing
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_heap
import numpy as np
from bench import best, row

import inspector

EXTRA_BYTES_MAX = 20e6
ARRAYS: list[Any] = []


def peak() -> int:
    """Most bytes that were resident since `/proc/self/clear_refs` was told to forget (proc(5))."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) << 10 if found else 0


def account(objects: int, bar_seconds: float, is_small: bool) -> None:
    """Processor time, and memory beyond that of the process; made and measured in a child."""
    bench_heap.OBJECTS = objects
    bench_heap.make(objects, bench_heap.HEAP)
    ARRAYS.extend(np.ones(12_500_000) for _ in range(10))
    sizes = f"{objects:.0e} objects, 1 GB of arrays".replace("e+0", "e")
    ask: Callable[[], Any] = inspector.memory
    resident = ask().resident_bytes
    row("account", best(ask, 5, clock=time.process_time), bar=bar_seconds, sizes=sizes)
    if not is_small:
        return
    Path("/proc/self/clear_refs").write_text("5")
    ask()
    row("account: memory beside", max(peak() - resident, 0), bar=EXTRA_BYTES_MAX, unit="B", sizes=sizes)
    spent = best(lambda: inspector.memory(lost=True), 5, clock=time.process_time)
    row("account with the search for lost objects", spent, sizes=sizes)


def main() -> None:
    """All rows, of each heap in a process of its own."""
    for arguments in ((1_000_000, 0.3, True), (10_000_000, 3.0, False)):
        child = multiprocessing.get_context("fork").Process(target=account, args=arguments)
        child.start()
        child.join()
        if child.exitcode:
            sys.exit(child.exitcode)


if __name__ == "__main__":
    main()
