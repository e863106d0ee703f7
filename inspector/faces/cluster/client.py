"""`inspector.on(client)`: inspect the workers of a Dask cluster; each report has a row for every worker."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.faces.cluster import joining
from inspector.faces.cluster.asking import Progress, Reply, ask_all
from inspector.faces.cluster.blocks import ClusterLeaked, ClusterTraced, armed
from inspector.report import Report, from_wire_form
from inspector.sessions.chosen_modules import names_of
from inspector.verdicts import cluster as answers

if TYPE_CHECKING:
    from types import ModuleType

    from distributed import Client

LARGEST_TRIED: Final = 256 << 20
CONNECT_S: Final = 10.0


def on(client: Client | str, progress: Progress | None = None) -> Cluster:
    """Every worker of the cluster that `client` (a distributed.Client or a scheduler's address) connects to.

    Registers a plugin by which all workers, later ones too, follow their keys. `progress(workers that
    answered, workers in all)` is called at each answer; False leaves the others out. Raises InspectorError
    `dask-missing` without dask.distributed, `no-scheduler` where none answers at the address,
    `client-closed`, and `not-a-client` for anything else and for an asynchronous client.
    """
    try:
        import distributed
    except ImportError:
        raise InspectorError(
            "inspecting a cluster needs dask.distributed, which is not installed.",
            slug="dask-missing",
            do="pip install 'native-inspector[dask]'",
        ) from None
    if isinstance(client, str):
        client = _connected(client)
    if not isinstance(client, distributed.Client):
        raise InspectorError(
            f"{type(client).__name__} is not a distributed.Client.",
            slug="not-a-client",
            do="inspector.on(distributed.Client(...))",
        )
    return Cluster(client, progress)


def _connected(address: str) -> Client:
    import distributed
    from distributed.comm.addressing import parse_address
    from distributed.comm.registry import get_backend

    try:
        get_backend(parse_address(address)[0])  # a client of a wrong scheme would raise when it is freed
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without certificates
        raise InspectorError(
            f"no scheduler answers at {address[:60]!r}.",
            slug="no-scheduler",
            why=f"{type(error).__name__}: {error}"[:160],
            do="give the address that the scheduler prints, as tcp://host:8786",
        ) from None


class Cluster:
    """The workers of one cluster. Facts are transferred as JSON; values stay on the workers."""

    def __init__(self, client: Client, progress: Progress | None = None) -> None:
        import cloudpickle

        from inspector.faces.cluster import sent

        cloudpickle.register_pickle_by_value(sent)
        self.client, self.progress = client, progress
        self._open().register_plugin(sent.Follower())

    def namespace(self, limit: int = 30) -> Report:
        """The keys that every worker holds in memory: at most `limit` of each worker, the largest."""
        found = joining.keys(self._replies("keys", {"limit": limit}))
        return Report("cluster", {"answers": answers.of_keys(found), "cluster_keys": found})

    def inspect(self, key: Any, *, scan: bool = False, also: tuple[str, ...] = ()) -> Report:
        """The report of the value of a key or a Future, made on the first worker that holds it in memory.

        Raises InspectorError `key-not-held` where no worker does.
        """
        name = str(getattr(key, "key", key))
        holders = [one.worker.address for one in self._replies("holds", {"key": name}) if one.answer]
        options = {"key": name, "scan": scan, "also": list(also)}
        cards = [
            one for one in ask_all(self._open(), "card", options, holders[:1], self.progress) if one.answer
        ]
        if not cards:
            raise InspectorError(
                f"no worker holds {name!r:.80} in memory.",
                slug="key-not-held",
                why="it is not computed, released, or spilled to disk (inspecting would read it back)",
                do="persist it and wait; .namespace() lists all keys",
            )
        report = from_wire_form(cards[0].answer, holders[0])
        report.name = f"{name} on {holders[0]}"
        return report

    def heap(self, types: int = 20) -> Report:
        """The census of every worker: the `types` types with most bytes."""
        return Report("heap", {"cluster_heap": joining.heap(self._replies("heap", {"types": types}))})

    def findings(self, limit: int = 200) -> Report:
        """Problems by worker: dangers of keys, values that outlive their keys, versions that differ."""
        found = joining.findings(self._replies("findings", {"limit": limit}))
        return Report("findings", {"answers": answers.of_findings(found), "cluster_findings": found})

    def transfers(self, limit: int = 50, largest_bytes: int = LARGEST_TRIED) -> Report:
        """Keys that workers sent recently, and whether serializing copied their bytes.

        Serializes each value that is still held, of at most `largest_bytes`, again and drops the result.
        """
        options = {"limit": limit, "largest_bytes": largest_bytes}
        found = joining.transfers(self._replies("transfers", options))
        return Report("transfers", {"answers": answers.of_sent(found), "cluster_transfers": found})

    @contextlib.contextmanager
    def trace(self, *modules: str | ModuleType, limit: int = 100, events: int = 0) -> Iterator[ClusterTraced]:
        """Trace `modules` on every worker while the block runs; `.report` has the copies of each task.

        Each worker sends its `limit` largest copies and its last `events` records; with `events`,
        `.to_arrow()` and `.to_parquet(path)` hold the records of all. A worker imports the modules first.
        Raises InspectorError where no worker can be traced.
        """
        traced, began = ClusterTraced(self.client, events), time.monotonic_ns()
        with armed(self._open(), "trace", names_of(modules), self.progress) as (question, everyone):
            try:
                yield traced
            finally:
                traced.ask(question, everyone(), limit, time.monotonic_ns() - began, self.progress)

    @contextlib.contextmanager
    def leaks(self, *modules: str | ModuleType, limit: int = 50) -> Iterator[ClusterLeaked]:
        """Watch references that native code of `modules` leaks on every worker while the block runs.

        Each worker sends at most `limit` verdicts. Raises InspectorError where no worker can be watched.
        """
        found = ClusterLeaked()
        with armed(self._open(), "leaks", names_of(modules), self.progress) as (question, everyone):
            try:
                yield found
            finally:
                options = {"question": question, "limit": limit}
                found.fact = joining.leaks(ask_all(self.client, "leaks", options, everyone(), self.progress))

    def _replies(self, verb: str, options: dict[str, Any]) -> list[Reply]:
        return ask_all(self._open(), verb, options, progress=self.progress)

    def _open(self) -> Client:
        """The client, if it is usable. Raises InspectorError `client-closed`, `not-a-client`."""
        if self.client.status not in ("running", "connecting"):
            raise InspectorError(
                "the client of this cluster is closed.",
                slug="client-closed",
                do="connect again: inspector.on(distributed.Client(address))",
            )
        if self.client.asynchronous:
            raise InspectorError(
                "an asynchronous client cannot be used.",
                slug="not-a-client",
                why="inspector.on() waits for the workers, which would block the client's event loop",
                do="inspector.on(client.scheduler.address), in another thread: asyncio.to_thread",
            )
        return self.client

    def __repr__(self) -> str:
        return f"<Cluster: {self.client}>"
