"""A block that runs while every worker is armed: armed before it, disarmed after it whatever happens."""

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
from inspector.faces.cluster.asking import Progress, Told, ask_all
from inspector.facts.cluster import ClusterLeaks, ClusterTrace
from inspector.report import Report
from inspector.sessions.trace import records_of, write_records

if TYPE_CHECKING:
    from pathlib import Path

    from distributed import Client

DISARM_S: Final = 30.0


@contextlib.contextmanager
def armed(
    client: Client, verb: str, modules: tuple[str, ...], progress: Progress | None
) -> Iterator[tuple[str, Callable[[], set[str]]]]:
    """(the question's own name, whom to ask when the block is over), while the workers are armed.

    Raises InspectorError where none of them is: the block does not run in vain.
    """
    from inspector.faces.cluster import sent

    question, at_first = uuid.uuid4().hex[:12], set(client.nthreads())
    plugin = sent.Arming(question, verb, modules)
    if_gone = sent.Disarming(client.id, plugin.name)
    try:
        with contextlib.suppress(ValueError):  # distributed.scheduler.pickle: false; it takes no code then
            client.register_plugin(if_gone)
        client.register_plugin(plugin)
        _require(ask_all(client, "armed", {"question": question}, progress=progress))
        yield question, lambda: at_first | set(client.nthreads())
    finally:
        _disarm(client, plugin.name, if_gone.name)


def _disarm(client: Client, arming: str, if_gone: str) -> None:
    """Take the plugins away; an interrupt while they go does not stop it."""

    def unregister() -> None:
        with contextlib.suppress(ValueError, OSError, RuntimeError):  # never registered; the cluster is gone
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


def _require(told: list[Told]) -> None:
    """Raises InspectorError `workers-refused` where all of them failed."""
    reasons = [one.worker.reason for one in told]
    if told and all(one.worker.answer in ("failed", "no extension") for one in told):
        raise InspectorError(
            f"none of the {len(told)} workers can do it.",
            slug="workers-refused",
            why=reasons[0].partition(" · ")[0].rstrip("."),
            do="mend that on the workers; the block has not run",
        )


class ClusterTraced:
    """What `Cluster.trace` gives: facts when its block is over."""

    fact: ClusterTrace | None = None

    def __init__(self, client: Client, events: int = 0) -> None:
        self._client, self._events = client, events
        self._streams: list[tuple[str, str]] = []
        self.records_left_out = 0
        """Earlier records that did not come here, being more than was asked for."""
        if events:
            records_of([], _columns)  # without pyarrow: now, not after the computation

    def ask(
        self, question: str, everyone: set[str], limit: int, wall_ns: int, progress: Progress | None
    ) -> None:
        """End the trace on every worker, and read back what those left that do not answer."""
        options = {"question": question, "limit": limit, "events": self._events}
        told = ask_all(self._client, "copies", options, everyone, progress)
        dead = self._read_back(told, options)
        self._take({**{one.worker.address: one.answer for one in told}, **dead})
        self.fact = joining.trace(told, dead, limit, wall_ns)

    def _read_back(self, told: list[Told], options: dict[str, Any]) -> dict[str, Any]:
        """Address of a silent worker -> what one that answers found in its files; None: nobody did."""
        dead = [one.worker.address for one in told if one.worker.answer == "lost"]
        found: dict[str, Any] = dict.fromkeys(dead)
        readers = {_host(one.worker.address): one.worker.address for one in told if one.answer is not None}
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
        return Report("trace", {"cluster_trace": self.fact})

    def to_arrow(self) -> Any:
        """The records of all workers as a pyarrow.Table: columns worker, task, key, began and a trace's own.

        task: the kind of task in which the call began, key: that task's own; "" where it was Dask itself.
        Raises InspectorError `no-events` without `trace(events=...)`, `no-pyarrow`, `trace-not-finished`.
        """
        if self.fact is None:
            raise _unfinished()
        if not self._events:
            raise InspectorError(
                "the records of this trace are still where they were made, and are gone.",
                slug="no-events",
                why="only the copies were asked for",
                do="with asked.trace('numpy', events=1_000_000) as t: ...",
            )
        return records_of([(name, base64.b64decode(text)) for name, text in self._streams], _columns)

    def to_parquet(self, path: str | Path) -> None:
        """Write that table. Raises InspectorError as `to_arrow`, and `unwritable-file`."""
        write_records(self.to_arrow(), path)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON, which `inspector.load` reads; a name in .parquet: all records."""
        if str(path).endswith(".parquet"):
            self.to_parquet(path)
        else:
            self.report.save(path)


class ClusterLeaked:
    """What `Cluster.leaks` gives: facts when its block is over."""

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
    """What stands for the name of a part: JSON of (worker, key), "" for none."""
    from dask.utils import key_split

    worker, key = json.loads(part) if part else (address, "")
    return {"worker": worker, "task": key_split(key) if key else "", "key": key}


def _unfinished() -> InspectorError:
    return InspectorError(
        "nothing has run in this block yet, or it is not over.",
        slug="trace-not-finished",
        why="it is read after its block",
        do="ask it after the `with` block",
    )
