"""What every bench file shares: time a call, and print a row of the table as one line of JSON.

A bench file is a script: `python tests/bench/bench_card.py`. `make bench` runs them all, each in a process of
its own, and writes the rows into docs/benchmarks.md. Ratios are of one run: ours and the peer's figure come
from the same process, within seconds.
"""

# SPDX-License-Identifier: MIT
import gc
import importlib
import json
import time
from collections.abc import Callable
from typing import Any


def best(
    function: Callable[[], object],
    repeat: int = 5,
    seconds: float = 5.0,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds of the fastest of up to `repeat` calls, within a budget of `seconds`; at least one call.

    `clock`: time.process_time counts what the call computes, not what it waits for on a busy machine.
    """
    times: list[float] = []
    gc.collect()
    while len(times) < repeat and sum(times) < seconds:
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def seconds(function: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Of one call."""
    start = clock()
    function()
    return clock() - start


def optional(name: str) -> Any:
    """A peer's module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def row(
    what: str,
    ours: float,
    *,
    against: str = "",
    theirs: float = 0.0,
    bar: float | None = None,
    unit: str = "s",
    sizes: str = "",
) -> None:
    """Print one row. `what` was measured, `sizes` says on what; ours and theirs are in `unit`.

    `bar`: the row holds when ours <= bar * theirs, or ours <= bar where there is nobody to compare with;
    None: the row is only told. Units: "s" (drawn as s, ms or us), "B", "ns/object".
    """
    limit = None if bar is None else bar * theirs if against else bar
    told = {
        "what": what,
        "sizes": sizes,
        "ours": ours,
        "unit": unit,
        "against": against,
        "theirs": theirs if against else None,
        "ratio": ours / theirs if against and theirs else None,
        "bar": bar,
        "holds": None if limit is None else ours <= limit,
    }
    print(json.dumps(told), flush=True)


def absent(what: str, library: str) -> None:
    """Print the row of what was not measured, a library being absent: it neither holds nor misses."""
    told = dict.fromkeys(("ours", "theirs", "ratio", "bar", "holds"))
    told |= {"what": what, "sizes": "", "unit": "", "against": "", "absent": library}
    print(json.dumps(told), flush=True)
