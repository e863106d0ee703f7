"""A closed trace: bytes a record in its file, and the time from a file of a million records to its report."""

# SPDX-License-Identifier: MIT
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench import best, row

import inspector

RECORDS = 1_000_000


def work(rounds: int) -> None:
    """Lists to arrays and back, a table grouped and joined: what real scripts do at the border."""
    for number in range(rounds):
        rows = [[float(i), float(i * number)] for i in range(300)]
        np.array(rows).T.copy().tolist()
        keys, names = [i % 7 for i in range(500)], [f"n{i % 11}" for i in range(500)]
        table = pd.DataFrame({"k": keys, "v": [float(i) for i in range(500)], "s": names})
        table.groupby("k").v.sum()
        table.merge(table.groupby("s").v.mean().reset_index(), on="s")


def made() -> Any:
    """One trace of the work that fits the ring, then repeated to the size, each time at a later clock."""
    from dataclasses import replace

    with inspector.trace("numpy", "pandas") as trace:
        work(12)
    events = trace._recorded()
    times = -(-RECORDS // len(events))
    records = np.tile(events.records, times)[:RECORDS]
    turn = np.repeat(np.arange(times, dtype=np.uint64), len(events))[:RECORDS]
    starts = events.records["start"]
    span = np.uint64(int(starts.max()) - int(starts[starts > 1 << 32].min()))
    clocked = records["start"] > 1 << 32
    records["start"][clocked] += (turn * (span + np.uint64(1000)))[clocked]
    site, thread = (np.tile(column, times)[:RECORDS] for column in (events.site, events.thread))
    return type(trace)(None, replace(events, records=records, site=site, thread=thread))


def main() -> None:
    """Bytes of a real trace, undoubled; seconds of the million."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.trace"
        with inspector.trace("numpy", "pandas") as trace:
            work(40)
        trace.save(path)
        sizes = f"{trace.events:,} records of NumPy and pandas"
        row("a closed trace, a record", path.stat().st_size / trace.events, bar=3.0, unit="B", sizes=sizes)
        million = made()
        million.save(path)
        sizes = f"{million.events:,} records"
        row("saving a trace", best(lambda: million.save(path), 2, clock=time.process_time), sizes=sizes)
        loaded = lambda: inspector.load(path)  # noqa: E731
        row("reading a saved trace", best(loaded, 3, clock=time.process_time), sizes=sizes)
        events = million._recorded()
        report = best(lambda: str(type(million)(None, events).report), 3, clock=time.process_time)
        row("the report of a trace", report, bar=1.0, sizes=sizes)


if __name__ == "__main__":
    main()
