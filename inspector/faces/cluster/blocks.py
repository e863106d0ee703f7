"""Blocks that run with every worker armed; the workers are disarmed at the end, even by an exception."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import base64
import contextlib
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.faces.cluster import joining
from inspector.faces.cluster.asking import Progress, Reply, ask_all
from inspector.facts.cluster import ClusterLeaks, ClusterTrace
from inspector.report import Report
from inspector.sessions.trace import records_of, write_records
from inspector.verdicts.cluster import of_trace

if TYPE_CHECKING:
    from pathlib import Path

    from distributed import Client

DISARM_S: Final = 30.0


@contextlib.contextmanager
def armed(
    client: Client, verb: str, modules: tuple[str, ...], progress: Progress | None
) -> Iterator[tuple[str, Callable[[], set[str]]]]:
    """Arm the workers; yields the question's name and a function that returns the workers to ask at the end.

    Raises InspectorError where no worker can be armed; the block then does not run.
    """
    from inspector.faces.cluster import sent

    question, at_first = uuid.uuid4().hex[:12], set(client.nthreads())
    plugin = sent.Arming(question, verb, modules)
    if_gone = sent.Disarming(client.id, plugin.name)
    try:
        with contextlib.suppress(ValueError):  # distributed.scheduler.pickle is false: it accepts no code
            client.register_plugin(if_gone)
        client.register_plugin(plugin)
        _require(ask_all(client, "armed", {"question": question}, progress=progress))
        yield question, lambda: at_first | set(client.nthreads())
    finally:
        _disarm(client, plugin.name, if_gone.name)


def _disarm(client: Client, arming: str, if_gone: str) -> None:
    """Unregister the plugins; an interrupt does not stop that."""

    def unregister() -> None:
        with contextlib.suppress(
            ValueError, OSError, RuntimeError
        ):  # never registered, or the cluster has ended
            client.unregister_worker_plugin(arming)
        with contextlib.suppress(ValueError, OSError, RuntimeError):
            client.unregister_scheduler_plugin(if_gone)

    thread = threading.Thread(target=unregister, name="inspector-disarm", daemon=True)
    thread.start()
    try:
        thread.join(DISARM_S)
    except KeyboardInterrupt:
        thread.join(DISARM_S)
        raise


def _require(replies: list[Reply]) -> None:
    """Raise InspectorError `workers-refused` where all workers failed."""
    reasons = [one.worker.reason for one in replies]
    if replies and all(one.worker.answer in ("failed", "no extension") for one in replies):
        raise InspectorError(
            f"none of the {len(replies)} workers can be armed.",
            slug="workers-refused",
            why=reasons[0].partition(" · ")[0].rstrip("."),
            do="fix that on the workers; the block did not run",
        )


class ClusterTraced:
    """What `Cluster.trace` yields; has facts after its block."""

    fact: ClusterTrace | None = None

    def __init__(self, client: Client, events: int = 0) -> None:
        self._client, self._events = client, events
        self._streams: list[tuple[str, str]] = []
        self.records_left_out = 0
        """Earlier records that were not transferred, beyond the limit of `events`."""
        if events:
            records_of([], _columns)  # fails now where pyarrow is missing, not after the computation

    def ask(
        self, question: str, everyone: set[str], limit: int, wall_ns: int, progress: Progress | None
    ) -> None:
        """End the trace on every worker, and read the files of workers that do not answer."""
        options = {"question": question, "limit": limit, "events": self._events}
        replies = ask_all(self._client, "copies", options, everyone, progress)
        dead = self._read_back(replies, options)
        self._take({**{one.worker.address: one.answer for one in replies}, **dead})
        self.fact = joining.trace(replies, dead, limit, wall_ns)

    def _read_back(self, replies: list[Reply], options: dict[str, Any]) -> dict[str, Any]:
        """Address of a silent worker -> what another worker of its host found in its files, or None."""
        dead = [one.worker.address for one in replies if one.worker.answer == "lost"]
        found: dict[str, Any] = dict.fromkeys(dead)
        readers = {_host(one.worker.address): one.worker.address for one in replies if one.answer is not None}
        for host in {_host(address) for address in dead} & set(readers):
            names = [address for address in dead if _host(address) == host]
            [reply] = ask_all(self._client, "remains", {**options, "dead": names}, [readers[host]])
            found.update(zip(names, reply.answer or (), strict=False))
        return found

    def _take(self, answers: dict[str, Any]) -> None:
        whole = {address: answer for address, answer in answers.items() if answer}
        self._streams = [(address, one["stream"]) for address, one in whole.items() if "stream" in one]
        self.records_left_out = sum(one.get("records_left_out", 0) for one in whole.values())

    @property
    def report(self) -> Report:
        """The copies of all workers, drawn."""
        if self.fact is None:
            raise _unfinished()
        return Report("trace", {"answers": of_trace(self.fact), "cluster_trace": self.fact})

    def to_arrow(self) -> Any:
        """The records of all workers as a pyarrow.Table: columns worker, task, key, began and a trace's own.

        task: the kind of the task in which the call began; key: that task's key; "" for Dask's own calls.
        Raises InspectorError `no-events` without `trace(events=...)`, `no-pyarrow`, `trace-not-finished`.
        """
        if self.fact is None:
            raise _unfinished()
        if not self._events:
            raise InspectorError(
                "the records of this trace were not transferred.",
                slug="no-events",
                why="the trace was made without `events`",
                do="with cluster.trace('numpy', events=1_000_000) as t: ...",
            )
        return records_of([(name, base64.b64decode(text)) for name, text in self._streams], _columns)

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of `to_arrow`. Raises InspectorError as that, and `unwritable-file`."""
        write_records(self.to_arrow(), path)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON for `inspector.load`; to a name in .parquet, all records."""
        if str(path).endswith(".parquet"):
            self.to_parquet(path)
        else:
            self.report.save(path)


class ClusterLeaked:
    """What `Cluster.leaks` yields; has facts after its block."""

    fact: ClusterLeaks | None = None

    @property
    def report(self) -> Report:
        """The verdicts of all workers, drawn."""
        if self.fact is None:
            raise _unfinished()
        return Report("leaks", {"cluster_leaks": self.fact})

    def save(self, path: str | Path) -> None:
        """Write the report as JSON; `inspector.load` reads it back."""
        self.report.save(path)


def _host(address: str) -> str:
    return address.rpartition(":")[0]


def _columns(address: str, part: str) -> dict[str, str]:
    """The columns for a part's name, which is JSON of (worker, key), or ""."""
    from dask.utils import key_split

    worker, key = json.loads(part) if part else (address, "")
    return {"worker": worker, "task": key_split(key) if key else "", "key": key}


def _unfinished() -> InspectorError:
    return InspectorError(
        "this block has not ended.",
        slug="trace-not-finished",
        why="its facts are made at the end of the block",
        do="read it after the `with` block",
    )
