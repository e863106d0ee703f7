"""Join the replies of all workers into one fact; workers without an answer have a row too."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from inspector.faces.cluster.asking import Reply
from inspector.facts.cluster import (
    Beside,
    ClusterFindings,
    ClusterHeap,
    ClusterLeaks,
    ClusterTrace,
    Danger,
    Kept,
    Key,
    Keys,
    Kind,
    Remains,
    Sent,
    TaskCopy,
    Transfers,
    Worker,
    WorkerLeaks,
    WorkerTypes,
)
from inspector.facts.namespace import Namespace
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire


def keys(replies: list[Reply]) -> Keys:
    """All workers' tables of keys."""
    tables = [None if one.answer is None else from_wire(Namespace, one.answer["table"]) for one in replies]
    found = [
        (one.worker.address, row, managed)
        for one, table in zip(replies, tables, strict=True)
        if table is not None
        for row, managed in zip(table.rows, one.answer["managed_bytes"], strict=True)
    ]
    copies = Counter(row.name for _, row, _ in found)
    return Keys(
        workers=tuple(_holding(one.worker, table) for one, table in zip(replies, tables, strict=True)),
        keys=tuple(Key(worker, row, managed, copies[row.name]) for worker, row, managed in found),
        left_out=sum(table.left_out for table in tables if table is not None),
        kinds=_kinds([from_wire(Kind, row) for answer in _answers(replies) for row in answer["kinds"]]),
    )


def _kinds(rows: list[Kind]) -> tuple[Kind, ...]:
    """The kinds of all workers; a kind on several workers is one."""
    by_task: dict[str, list[Kind]] = {}
    for row in rows:
        by_task.setdefault(row.task, []).append(row)
    joined = (
        Kind(
            task,
            max(found, key=lambda one: one.keys).type_name,
            sum(one.keys for one in found),
            sum(one.bytes for one in found),
            sum(one.unknown for one in found),
            tuple(worker for one in found for worker in one.workers),
        )
        for task, found in by_task.items()
    )
    return tuple(sorted(joined, key=lambda kind: -kind.bytes))


def _holding(worker: Worker, table: Namespace | None) -> Worker:
    if table is None:
        return worker
    return replace(
        worker,
        owned_bytes=table.total_bytes,
        resident_bytes=table.resident_bytes if table.rows else 0,
        shared_bytes=table.shared_bytes,
    )


def heap(replies: list[Reply]) -> ClusterHeap:
    """One census per worker."""
    workers = tuple(
        replace(one.worker, retained_bytes=one.answer["retained_bytes"]) if one.answer else one.worker
        for one in replies
    )
    return ClusterHeap(
        workers, tuple(from_wire(WorkerTypes, answer["census"]) for answer in _answers(replies))
    )


def findings(replies: list[Reply]) -> ClusterFindings:
    """The problems of all workers."""
    beside = [from_wire(Beside, row) for answer in _answers(replies) for row in answer["beside"]]
    return ClusterFindings(
        workers=_workers(replies),
        dangers=tuple(from_wire(Danger, row) for answer in _answers(replies) for row in answer["dangers"]),
        kept=tuple(from_wire(Kept, row) for answer in _answers(replies) for row in answer["kept"]),
        unfollowed=sum(answer["unfollowed"] for answer in _answers(replies)),
        differing=_differing(replies),
        beside=tuple(sorted(beside, key=lambda one: -one.bytes)),
        keys_left_out=sum(answer["keys_left_out"] for answer in _answers(replies)),
    )


def transfers(replies: list[Reply]) -> Transfers:
    """What was sent, most copied bytes first."""
    sent = [from_wire(Sent, row) for answer in _answers(replies) for row in answer]
    sent.sort(key=lambda one: -one.copied_bytes if isinstance(one.copied_bytes, int) else 1)
    return Transfers(_workers(replies), tuple(sent))


def trace(replies: list[Reply], dead: dict[str, Any], limit: int, wall_ns: int) -> ClusterTrace:
    """The `limit` largest copies of all workers; `dead`: silent worker -> what its files had, or None."""
    answers = [*_answers(replies), *filter(None, dead.values())]
    copies = [from_wire(TaskCopy, row) for answer in answers for row in answer["copies"]]
    copies.sort(key=lambda row: -row.copy.copied_bytes)
    return ClusterTrace(
        workers=_workers(replies),
        copies=tuple(copies[:limit]),
        copies_left_out=sum(answer["left_out"] for answer in answers) + max(len(copies) - limit, 0),
        events=sum(answer["events"] for answer in answers),
        dropped=sum(answer["dropped"] for answer in answers),
        wall_ns=wall_ns,
        remains=tuple(_remains(*one) for one in dead.items()),
    )


def _remains(worker: str, answer: Any) -> Remains:
    if answer:
        return Remains(worker, answer["events"], answer["dropped"])
    nothing = Unknown("no worker on its host could read its files")
    return Remains(worker, nothing, nothing)


def leaks(replies: list[Reply]) -> ClusterLeaks:
    """The verdicts of all processes."""
    return ClusterLeaks(
        _workers(replies), tuple(from_wire(WorkerLeaks, answer) for answer in _answers(replies))
    )


def _workers(replies: list[Reply]) -> tuple[Worker, ...]:
    return tuple(one.worker for one in replies)


def _answers(replies: list[Reply]) -> Iterator[Any]:
    return (one.answer for one in replies if one.answer)


def _differing(replies: list[Reply]) -> dict[str, dict[str, str]]:
    answered = [one.worker for one in replies if one.answer is not None]
    failing = sorted({library for worker in answered for library in worker.self_tests})
    found: dict[str, dict[str, str]] = {}
    for worker in answered:
        tests = {f"{name} (self test)": worker.self_tests.get(name, "passes") for name in failing}
        for what, value in {**worker.versions, **tests}.items():
            found.setdefault(what, {})[worker.address] = value
    return {what: values for what, values in found.items() if len(set(values.values())) > 1}
