"""What runs on a worker: the api's verbs on the values of its keys; returns JSON text."""

# SPDX-License-Identifier: MIT
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from inspector import api
from inspector.faces.cluster import leaking, tracing, transfers
from inspector.faces.cluster.beside import beside_keys
from inspector.faces.cluster.held import actors, in_memory, kinds_of
from inspector.facts.cluster import Danger, Kept, WorkerTypes
from inspector.facts.namespace import Namespace
from inspector.facts.unknown import Unknown
from inspector.facts.wire import SCHEMA, to_wire

HOLDER: Final = "worker.data"
ACTORS: Final = "worker.state.actors"
KEPT_ASKED: Final = 20
"""Values that outlive their keys whose owners are searched."""


def answer(verb: str, options: Mapping[str, Any], worker: Any) -> str:
    """The answer to `verb` and the worker's description, as JSON text."""
    found = VERBS[verb](worker, **options)
    return json.dumps({"schema": SCHEMA, "worker": described(worker), "answer": found})


def described(worker: Any) -> dict[str, Any]:
    """The worker's identity, and its memory as Dask and the kernel count it."""
    return {
        "name": str(worker.name),
        "pid": os.getpid(),
        "versions": _versions(),
        "self_tests": api.adapters_left_out(),
        "keys": len(worker.data),
        "managed_bytes": int(worker.state.nbytes),
        "spilled_bytes": _spilled(worker.data),
        "rss_bytes": int(worker.monitor.get_process_memory()),
    }


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("native-inspector", "distributed", "numpy", "pandas", "pyarrow"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def _spilled(values: Any) -> Any:
    total = getattr(values, "spilled_total", None)
    return {"unknown": "this worker does not count what it spills"} if total is None else int(total.memory)


def keys(worker: Any, limit: int) -> dict[str, Any]:
    """The keys in memory, as the table of a namespace."""
    named = {str(key): value for key, value in in_memory(worker).items()}
    whole = api.namespace(named, limit=None)
    table = replace(whole, rows=whole.rows[:limit], left_out=max(len(whole.rows) - limit, 0))
    tasks = {str(key): task.nbytes or 0 for key, task in worker.state.tasks.items()}
    managed = [tasks.get(row.name, 0) for row in table.rows]
    kinds = [to_wire(kind) for kind in kinds_of(whole.rows, worker.address)]
    return {"table": to_wire(without_one_reference(table)), "managed_bytes": managed, "kinds": kinds}


def without_one_reference(table: Namespace) -> Namespace:
    """The table without the references of the dict that it was made from."""
    rows = (
        replace(row, references=row.references - 1) if isinstance(row.references, int) else row
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def holds(worker: Any, key: str) -> bool:
    """Whether the value or actor of a key is in memory here."""
    return any(str(one) == key for one in (*in_memory(worker), *actors(worker)))


def card(worker: Any, key: str, scan: bool, also: list[str]) -> dict[str, Any]:
    """The report of one key's value; {} where it is not in memory here."""
    for table, holder in ((in_memory(worker), HOLDER), (actors(worker), ACTORS)):
        for one in [one for one in table if str(one) == key]:
            report = api.inspect(table[one], name=key, names={id(table): holder}, scan=scan, also=tuple(also))
            return report.to_wire()
    return {}


def heap(worker: Any, types: int) -> dict[str, Any]:
    """The census of this process (largest types), and the bytes that only the keys keep alive."""
    found = api.heap()
    rows = WorkerTypes(worker.address, found.objects, found.bytes, found.types[:types])
    kept = api.retained(in_memory(worker))
    return {"census": to_wire(rows), "retained_bytes": kept.retained_bytes}


def findings(worker: Any, limit: int) -> dict[str, Any]:
    """Dangers of the keys in memory, and values that outlive their keys."""
    looked_at = list(in_memory(worker))[:limit]
    dangers = [
        to_wire(Danger(worker.address, str(key), danger))
        for key in looked_at
        for danger in _dangers(worker, key)
    ]
    follower = worker.plugins.get("inspector")
    alive = [] if follower is None else [key for key, one in follower.finished.items() if one() is not None]
    kept = [to_wire(one) for key in alive[:KEPT_ASKED] if (one := _kept(worker, follower, key)) is not None]
    unfollowed = 0 if follower is None else len(follower.unfollowed)
    beside = [to_wire(one) for one in beside_keys(worker.address)]
    return {
        "dangers": dangers,
        "kept": kept,
        "unfollowed": unfollowed,
        "beside": beside,
        "keys_left_out": max(len(worker.data) - len(looked_at), 0),
    }


def _dangers(worker: Any, key: Any) -> Any:
    try:
        return api.findings(in_memory(worker)[key])
    except KeyError:  # released meanwhile
        return ()


def _kept(worker: Any, follower: Any, key: Any) -> Kept | None:
    report = api.inspect(follower.finished[key](), name=str(key), scan=True)
    if report.object.type_name == "NoneType":  # died meanwhile
        return None
    owners = report.refs.owners
    return Kept(
        worker=worker.address,
        key=str(key),
        type_name=report.object.type_name,
        bytes=_bytes(report),
        owners=tuple(dict.fromkeys(owner.short for owner in owners if owner.certain)),
        unnamed=owners.unstored,
    )


def _bytes(report: Any) -> int | Unknown:
    found = report.materialization
    return found if isinstance(found, Unknown) else found.retained_bytes


VERBS: Final[dict[str, Callable[..., Any]]] = {
    "keys": keys,
    "holds": holds,
    "card": card,
    "heap": heap,
    "findings": findings,
    "transfers": transfers.lately,
    "armed": tracing.armed,
    "copies": tracing.copies,
    "remains": tracing.remains,
    "leaks": leaking.leaks,
}
"""Verb -> the function that answers it."""
