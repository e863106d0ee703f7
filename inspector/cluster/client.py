"""`inspector.on(client)`: the questions to a cluster; each answer has a row for every worker."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from inspector.cluster.asking import Progress, Told, ask_all
from inspector.errors import InspectorError
from inspector.facts.cluster import (
    ClusterFindings,
    ClusterHeap,
    ClusterTrace,
    Danger,
    Kept,
    Key,
    Keys,
    Sent,
    TaskCopy,
    Transfers,
    Worker,
    WorkerTypes,
)
from inspector.facts.namespace import Namespace
from inspector.facts.wire import from_wire
from inspector.report import Report

if TYPE_CHECKING:
    from distributed import Client

LARGEST_TRIED: Final = 256 << 20
TRACE: Final = "inspector-trace"


def on(client: Client) -> Cluster:
    """Every worker of the cluster that `client` (distributed.Client) is connected to.

    The workers follow their keys from now on by a plugin, those that join later too. Raises InspectorError
    `dask-missing` without dask.distributed, `not-a-client` for anything else.
    """
    try:
        import distributed
    except ImportError:
        raise InspectorError(
            "a cluster is asked through dask.distributed, which is not installed.",
            slug="dask-missing",
            do="pip install 'native-inspector[dask]'",
        ) from None
    if not isinstance(client, distributed.Client):
        raise InspectorError(
            f"{type(client).__name__} is no client of a cluster.",
            slug="not-a-client",
            do="inspector.on(distributed.Client(...))",
        )
    return Cluster(client)


class Cluster:
    """The workers of one cluster. Facts travel as JSON; values stay where they are."""

    def __init__(self, client: Client, progress: Progress | None = None) -> None:
        import cloudpickle

        from inspector.cluster import sent

        cloudpickle.register_pickle_by_value(sent)
        self.client, self.progress = client, progress
        client.register_plugin(sent.Follower())

    def namespace(self, limit: int = 30) -> Report:
        """What every worker holds in memory: at most `limit` keys of each, the heaviest."""
        told = self._asked("keys", {"limit": limit})
        tables = [None if one.answer is None else from_wire(Namespace, one.answer["table"]) for one in told]
        found = Keys(
            workers=tuple(_holding(one.worker, table) for one, table in zip(told, tables, strict=True)),
            keys=_keys(told, tables),
            left_out=sum(table.left_out for table in tables if table is not None),
        )
        return Report("cluster", {"cluster_keys": found})

    def inspect(self, key: Any, *, scan: bool = False, also: tuple[str, ...] = ()) -> Report:
        """The card of a key's value (or a Future's), made on the first worker that holds it in memory.

        Raises InspectorError `key-not-held` where no worker does.
        """
        name = str(getattr(key, "key", key))
        holders = [
            one for one in self._asked("card", {"key": name, "scan": scan, "also": list(also)}) if one.answer
        ]
        if not holders:
            raise InspectorError(
                f"no worker holds {name!r:.80} in memory.",
                slug="key-not-held",
                why="it is not computed yet, is finished, or is spilled to disk: a look would read it back",
                do="persist it and wait; .namespace() lists what there is",
            )
        from inspector.report import from_wire_form

        report = from_wire_form(holders[0].answer, holders[0].worker.address)
        report.name = f"{name} on {holders[0].worker.address}"
        return report

    def heap(self, types: int = 20) -> Report:
        """The census of every worker: its `types` heaviest types."""
        told = self._asked("heap", {"types": types})
        heaps = tuple(from_wire(WorkerTypes, one.answer) for one in told if one.answer)
        return Report("heap", {"cluster_heap": ClusterHeap(_workers(told), heaps)})

    def findings(self, limit: int = 200) -> Report:
        """What is wrong where: dangers of keys, values that outlive their keys, versions that differ."""
        told = self._asked("findings", {"limit": limit})
        answers = [one.answer for one in told if one.answer]
        found = ClusterFindings(
            workers=_workers(told),
            dangers=tuple(from_wire(Danger, row) for answer in answers for row in answer["dangers"]),
            kept=tuple(from_wire(Kept, row) for answer in answers for row in answer["kept"]),
            unfollowed=sum(answer["unfollowed"] for answer in answers),
            differing=_differing(told),
        )
        return Report("findings", {"cluster_findings": found})

    def transfers(self, limit: int = 50, largest_bytes: int = LARGEST_TRIED) -> Report:
        """Keys that went between workers lately, and whether their bytes were copied to be sent.

        Each value still held, of at most `largest_bytes`, is serialized once more to see it; the result is
        dropped.
        """
        told = self._asked("transfers", {"limit": limit, "largest_bytes": largest_bytes})
        sent = [from_wire(Sent, row) for one in told if one.answer for row in one.answer]
        sent.sort(key=lambda one: -one.copied_bytes if isinstance(one.copied_bytes, int) else 1)
        return Report("transfers", {"cluster_transfers": Transfers(_workers(told), tuple(sent))})

    @contextlib.contextmanager
    def trace(self, *modules: str, limit: int = 100) -> Iterator[ClusterTraced]:
        """Trace `modules` on every worker while the block runs: `.report` says which task copied what."""
        from inspector.cluster import sent

        traced, began, at_first = ClusterTraced(), time.monotonic_ns(), set(self.client.nthreads())
        self.client.register_plugin(sent.Arming(tuple(modules)))
        try:
            yield traced
        finally:
            everyone = at_first | set(self.client.nthreads())
            told = ask_all(self.client, "copies", {"limit": limit}, everyone, self.progress)
            self.client.unregister_worker_plugin(TRACE)
            traced.fact = _joined(told, limit, time.monotonic_ns() - began)

    def _asked(self, verb: str, options: dict[str, Any]) -> list[Told]:
        return ask_all(self.client, verb, options, progress=self.progress)

    def __repr__(self) -> str:
        return f"<Cluster: {self.client}>"


class ClusterTraced:
    """What `Cluster.trace` gives: facts when its block is over."""

    fact: ClusterTrace | None = None

    @property
    def report(self) -> Report:
        """The copies of all workers, drawn."""
        if self.fact is None:
            raise InspectorError(
                "the trace is not finished.",
                slug="trace-not-finished",
                why="it is read after its block",
                do="ask it after the `with` block",
            )
        return Report("trace", {"cluster_trace": self.fact})


def _holding(worker: Worker, table: Namespace | None) -> Worker:
    if table is None:
        return worker
    return replace(worker, owned_bytes=table.total_bytes, resident_bytes=table.resident_bytes)


def _keys(told: list[Told], tables: list[Namespace | None]) -> tuple[Key, ...]:
    found = [
        (one.worker.address, row, managed)
        for one, table in zip(told, tables, strict=True)
        if table is not None
        for row, managed in zip(table.rows, one.answer["managed_bytes"], strict=True)
    ]
    copies = Counter(row.name for _, row, _ in found)
    return tuple(Key(worker, row, managed, copies[row.name]) for worker, row, managed in found)


def _workers(told: list[Told]) -> Any:
    return tuple(one.worker for one in told)


def _differing(told: list[Told]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in told:
        for package, version in one.worker.versions.items():
            found.setdefault(package, {})[one.worker.address] = version
    return {package: versions for package, versions in found.items() if len(set(versions.values())) > 1}


def _joined(told: list[Told], limit: int, wall_ns: int) -> ClusterTrace:
    answers = [one.answer for one in told if one.answer]
    copies = [from_wire(TaskCopy, row) for answer in answers for row in answer["copies"]]
    copies.sort(key=lambda row: -row.copy.copied_bytes)
    return ClusterTrace(
        workers=_workers(told),
        copies=tuple(copies[:limit]),
        copies_left_out=sum(answer["left_out"] for answer in answers) + max(len(copies) - limit, 0),
        events=sum(answer["events"] for answer in answers),
        dropped=sum(answer["dropped"] for answer in answers),
        wall_ns=wall_ns,
    )
