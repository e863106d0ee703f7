"""What asking a cluster costs: two workers asked, a groupby traced, a thousand workers' facts joined."""

# SPDX-License-Identifier: MIT
import json
import time
import tracemalloc
from statistics import median

import dask
import dask.dataframe
import numpy as np
import pandas as pd
from bench import best, row
from distributed import Client, LocalCluster, wait

import inspector
from inspector.faces.cluster import joining
from inspector.faces.cluster.asking import Told, ask_all, read_answer
from inspector.facts.wire import SCHEMA, to_wire

ROWS = 10_000_000
WORKERS = 1_000
ROUNDS = 15


def gathered(client: Client, workers: int) -> None:
    asked = inspector.on(client)
    asked.namespace()
    row("facts of all workers, gathered", best(asked.namespace), bar=0.1, sizes=f"{workers} workers")


def idle(client: Client, frame: object, settled: int) -> None:
    """Interleaved: without the plugin, with it, and without it again, which says how much is noise."""
    times: dict[str, list[float]] = {"without": [], "with": [], "again": []}
    for _ in range(ROUNDS):
        for name in ("without", "with", "again"):
            if name == "with":
                inspector.on(client)
            times[name].append(seconds(client, frame, settled))
            if name == "with":
                client.unregister_worker_plugin("inspector")
    middle = {name: median(some) for name, some in times.items()}
    what, theirs = "dask.dataframe groupby, the plugin idle", median(times["without"] + times["again"])
    sizes = f"{ROWS:,} rows; without, twice: {middle['again'] / middle['without']:.2f}"
    row(what, middle["with"], against="no plugin", theirs=theirs, bar=1.1, sizes=sizes)


def groupby(client: Client) -> None:
    """Interleaved: the same graph untraced and traced; the median of each."""
    made = pd.DataFrame({"key": np.arange(ROWS) % 1000, "value": np.ones(ROWS)})
    frame = dask.dataframe.from_pandas(made, npartitions=8).persist()
    wait(frame)
    settled = client.run_on_scheduler(tasks_known)
    idle(client, frame, settled)
    asked, times = inspector.on(client), {"plain": [], "traced": []}
    for _ in range(ROUNDS):
        times["plain"].append(seconds(client, frame, settled))
        with asked.trace("pandas", "numpy"):
            times["traced"].append(seconds(client, frame, settled))
    what, ours, theirs = "dask.dataframe groupby, traced", median(times["traced"]), median(times["plain"])
    row(what, ours, against="untraced", theirs=theirs, bar=1.15, sizes=f"{ROWS:,} rows")


def tasks_known(dask_scheduler: object) -> int:
    return len(dask_scheduler.tasks)  # type: ignore[attr-defined]


def seconds(client: Client, frame: object, settled: int) -> float:
    """Of one groupby, begun when the scheduler has forgotten the last one, which it would find again."""
    while client.run_on_scheduler(tasks_known) > settled:
        time.sleep(0.01)
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
    peak = tracemalloc.get_traced_memory()[1]
    row("facts of a cluster, joined: memory", peak, unit="B", bar=500e6, sizes=sizes)
    del held, kept


SENT = ("name", "pid", "versions", "self_tests", "keys", "managed_bytes", "spilled_bytes", "rss_bytes")


if __name__ == "__main__":
    alone = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=8, **alone) as cluster, Client(cluster) as client:
        gathered(client, 8)
    with LocalCluster(n_workers=2, **alone) as cluster, Client(cluster) as client:
        gathered(client, 2)
        groupby(client)
        thousand(client)
