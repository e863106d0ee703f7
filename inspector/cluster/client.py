"""`inspector.on(client)`: the questions to a cluster; each answer has a row for every worker."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from inspector.cluster import joining
from inspector.cluster.asking import Progress, Told, ask_all
from inspector.errors import InspectorError
from inspector.facts.cluster import ClusterTrace
from inspector.report import Report, from_wire_form

if TYPE_CHECKING:
    from pathlib import Path

    from distributed import Client

LARGEST_TRIED: Final = 256 << 20
CONNECT_S: Final = 10.0


def on(client: Client | str) -> Cluster:
    """Every worker of the cluster that `client` (distributed.Client, or a scheduler's address) connects to.

    The workers follow their keys from now on by a plugin, those that join later too. Raises InspectorError
    `dask-missing` without dask.distributed, `no-scheduler` where none answers at the address,
    `not-a-client` for anything else.
    """
    try:
        import distributed
    except ImportError:
        raise InspectorError(
            "a cluster is asked through dask.distributed, which is not installed.",
            slug="dask-missing",
            do="pip install 'native-inspector[dask]'",
        ) from None
    if isinstance(client, str):
        client = _connected(client)
    if not isinstance(client, distributed.Client):
        raise InspectorError(
            f"{type(client).__name__} is no client of a cluster.",
            slug="not-a-client",
            do="inspector.on(distributed.Client(...))",
        )
    return Cluster(client)


def _connected(address: str) -> Client:
    import distributed
    from distributed.comm.addressing import parse_address
    from distributed.comm.registry import get_backend

    try:
        get_backend(parse_address(address)[0])  # a client of a wrong scheme complains when it is collected
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InspectorError(
            f"no scheduler answers at {address[:60]!r}.",
            slug="no-scheduler",
            why=f"{type(error).__name__}: {error}"[:160],
            do="give the address that the scheduler prints, as tcp://host:8786",
        ) from None


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
        return Report("cluster", {"cluster_keys": joining.keys(self._asked("keys", {"limit": limit}))})

    def inspect(self, key: Any, *, scan: bool = False, also: tuple[str, ...] = ()) -> Report:
        """The card of a key's value (or a Future's), made on the first worker that holds it in memory.

        Raises InspectorError `key-not-held` where no worker does.
        """
        name = str(getattr(key, "key", key))
        holders = [one.worker.address for one in self._asked("holds", {"key": name}) if one.answer]
        asked = {"key": name, "scan": scan, "also": list(also)}
        cards = [one for one in ask_all(self.client, "card", asked, holders[:1], self.progress) if one.answer]
        if not cards:
            raise InspectorError(
                f"no worker holds {name!r:.80} in memory.",
                slug="key-not-held",
                why="it is not computed yet, is finished, or is spilled to disk: a look would read it back",
                do="persist it and wait; .namespace() lists what there is",
            )
        report = from_wire_form(cards[0].answer, holders[0])
        report.name = f"{name} on {holders[0]}"
        return report

    def heap(self, types: int = 20) -> Report:
        """The census of every worker: its `types` heaviest types."""
        return Report("heap", {"cluster_heap": joining.heap(self._asked("heap", {"types": types}))})

    def findings(self, limit: int = 200) -> Report:
        """What is wrong where: dangers of keys, values that outlive their keys, versions that differ."""
        found = joining.findings(self._asked("findings", {"limit": limit}))
        return Report("findings", {"cluster_findings": found})

    def transfers(self, limit: int = 50, largest_bytes: int = LARGEST_TRIED) -> Report:
        """Keys that went between workers lately, and whether their bytes were copied to be sent.

        Each value still held, of at most `largest_bytes`, is serialized once more to see it; the result is
        dropped.
        """
        told = self._asked("transfers", {"limit": limit, "largest_bytes": largest_bytes})
        return Report("transfers", {"cluster_transfers": joining.transfers(told)})

    @contextlib.contextmanager
    def trace(self, *modules: str, limit: int = 100) -> Iterator[ClusterTraced]:
        """Trace `modules` on every worker while the block runs: `.report` says which task copied what."""
        from inspector.cluster import sent

        traced, began, at_first = ClusterTraced(), time.monotonic_ns(), set(self.client.nthreads())
        self.client.register_plugin(sent.Arming(tuple(modules)))
        try:
            try:
                yield traced
            finally:
                everyone = at_first | set(self.client.nthreads())
                told = ask_all(self.client, "copies", {"limit": limit}, everyone, self.progress)
                traced.fact = joining.trace(told, limit, time.monotonic_ns() - began)
        finally:
            self.client.unregister_worker_plugin(sent.Arming.name)  # disarms what was not asked

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

    def save(self, path: str | Path) -> None:
        """Write the report as JSON; `inspector.load` reads it back."""
        self.report.save(path)
