"""What asking a cluster costs: two workers asked, a groupby traced, a thousand workers' facts joined."""

from __future__ import annotations

import json
import time
import tracemalloc

import dask
import dask.dataframe
import numpy as np
import pandas as pd
from bench import best, row
from distributed import Client, LocalCluster, wait

import inspector
from inspector.cluster import joining
from inspector.cluster.asking import Told, ask_all, read_answer
from inspector.facts.wire import SCHEMA, to_wire

ROWS = 10_000_000
WORKERS = 1_000


def gathered(client: Client, workers: int) -> None:
    asked = inspector.on(client)
    asked.namespace()
    row("facts of all workers, gathered", best(asked.namespace), bar=0.1, sizes=f"{workers} workers")


def idle(client: Client, frame: object) -> None:
    """Interleaved: without the plugin, with it, and without it again, which says how much is noise."""
    times: dict[str, list[float]] = {"without": [], "with": [], "again": []}
    for _ in range(4):
        for name in ("without", "with", "again"):
            if name == "with":
                inspector.on(client)
            times[name].append(seconds(frame))
            if name == "with":
                client.unregister_worker_plugin("inspector")
    least = {name: min(some) for name, some in times.items()}
    noise = f"{ROWS:,} rows; without, twice: {least['again'] / least['without']:.2f}"
    row(
        "dask.dataframe groupby, the plugin idle",
        least["with"],
        against="no plugin",
        theirs=min(least["without"], least["again"]),
        bar=1.1,
        sizes=noise,
    )


def groupby(client: Client) -> None:
    """Interleaved: the same graph untraced and traced; the fastest of three each."""
    made = pd.DataFrame({"key": np.arange(ROWS) % 1000, "value": np.ones(ROWS)})
    frame = dask.dataframe.from_pandas(made, npartitions=8).persist()
    idle(client, frame)
    asked, times = inspector.on(client), {"plain": [], "traced": []}
    for _ in range(3):
        times["plain"].append(seconds(frame))
        with asked.trace("pandas", "numpy"):
            times["traced"].append(seconds(frame))
    row(
        "dask.dataframe groupby, traced",
        min(times["traced"]),
        against="untraced",
        theirs=min(times["plain"]),
        bar=1.15,
        sizes=f"{ROWS:,} rows",
    )


def seconds(frame: object) -> float:
    start = time.perf_counter()
    frame.groupby("key").value.sum().compute()  # type: ignore[attr-defined]
    return time.perf_counter() - start


def thousand(client: Client) -> None:
    """Real answers of a real worker, under a thousand addresses."""
    kept = client.map(np.zeros, range(100, 160))
    wait(kept)
    first = max(ask_all(client, "keys", {"limit": 30}), key=lambda told: len(told.answer["managed_bytes"]))
    sizes = f"{WORKERS:,} workers of {len(first.answer['managed_bytes'])} keys"
    fields = {name: to_wire(getattr(first.worker, name)) for name in SENT}
    text = json.dumps({"schema": SCHEMA, "worker": fields, "answer": first.answer})

    def joined() -> list[Told]:
        told = [read_answer(f"tcp://10.0.{i // 256}.{i % 256}:1", text) for i in range(WORKERS)]
        joining.keys(told)
        return told

    row("facts of a cluster, joined", best(joined), bar=2.0, sizes=sizes)
    tracemalloc.start()
    held = joined()
    row(
        "facts of a cluster, joined: memory",
        tracemalloc.get_traced_memory()[1],
        unit="B",
        bar=500e6,
        sizes=sizes,
    )
    del held, kept


SENT = ("name", "pid", "versions", "keys", "managed_bytes", "spilled_bytes", "rss_bytes")


if __name__ == "__main__":
    with (
        LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        gathered(client, 8)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        gathered(client, 2)
        groupby(client)
        thousand(client)
