"""Draws a cluster as tables: the workers first (with the reason if one is silent), then the result."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Final

from inspector.facts.cluster import (
    ClusterFindings,
    ClusterHeap,
    ClusterLeaks,
    ClusterTrace,
    Danger,
    Kept,
    Key,
    Keys,
    Remains,
    Sent,
    TaskCopy,
    Transfers,
    Worker,
)
from inspector.facts.unknown import Immortal, Unknown
from inspector.views.amounts import known, size
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.leaks import of_leaks
from inspector.views.view import blocks

_SHOWN = 20
_LINK = "docs/reference/cluster.md"


@blocks.register
def _keys(fact: Keys) -> tuple[Block, ...]:
    rows = tuple(_key_row(fact.workers, key) for key in fact.keys)
    total = sum(key.held.bytes for key in fact.keys if isinstance(key.held.bytes, int))
    more = f"  … {fact.left_out:,} more" if fact.left_out else ""
    line = Line(
        "keys", (*text(f"{len(fact.keys):,}"), Span(f"  {size(total)}{more}", "dim")), link=f"{_LINK}#keys"
    )
    heads = ("worker", "key", "type", "bytes", "refs", "state", "copies")
    return (*_workers(fact.workers), Fold(line, (Table(heads, rows, (3, 4, 6)),), _SHOWN))


def _key_row(workers: tuple[Worker, ...], key: Key) -> tuple[tuple[Span, ...], ...]:
    held = key.held
    return (
        text(_short(workers, key.worker), "dim"),
        text(held.name, "name"),
        text(held.type_name),
        known(held.bytes, "size"),
        text("∞" if held.references is Immortal else f"{held.references:,}"),
        text(held.state),
        text(str(key.copies) if key.copies > 1 else ""),
    )


@blocks.register
def _heap(fact: ClusterHeap) -> tuple[Block, ...]:
    folds = []
    for heap in fact.heaps:
        name = _short(fact.workers, heap.worker)
        rows = tuple((text(r.type_name), text(f"{r.objects:,}"), text(size(r.bytes))) for r in heap.types)
        line = Line(
            name, text(f"{heap.objects:,} objects · {size(heap.bytes)}"), link="docs/reference/heap.md#census"
        )
        folds.append(Fold(line, (Table(("type", "objects", "bytes"), rows, (1, 2)),), 5))
    return (*_workers(fact.workers), *folds)


@blocks.register
def _findings(fact: ClusterFindings) -> tuple[Block, ...]:
    made: list[Block] = [*_workers(fact.workers)]
    kept = tuple(_kept_row(fact.workers, value) for value in fact.kept)
    if kept:
        words = "1 value outlives its key" if len(kept) == 1 else f"{len(kept):,} values outlive their keys"
        line = Line("kept", text(words, "warn"), link=f"{_LINK}#kept")
        made.append(Fold(line, (Table(("worker", "key", "type", "bytes", "held by"), kept, (3,)),), _SHOWN))
    made += [_danger(fact.workers, danger) for danger in fact.dangers]
    for package, versions in fact.differing.items():
        said = ", ".join(f"{_short(fact.workers, worker)} {version}" for worker, version in versions.items())
        made.append(Line("differs", (*text(package, "warn"), Span(f"  {said}", "dim"))))
    if fact.unfollowed:
        words = f"{fact.unfollowed:,} finished keys of types without weak references: not followed"
        made.append(Line("note", text(words, "dim")))
    if not (fact.kept or fact.dangers or fact.differing):
        made.append(Line("findings", text("none")))
    return tuple(made)


def _danger(workers: tuple[Worker, ...], danger: Danger) -> Line:
    found = danger.finding
    return Line(
        "danger",
        (*text(danger.key, "name"), Span(f"  {found.what}"), Span(f"  {found.do}", "dim")),
        text(_short(workers, danger.worker), "dim"),
        found.why,
        found.page,
    )


def _kept_row(workers: tuple[Worker, ...], value: Kept) -> tuple[tuple[Span, ...], ...]:
    owners = ", ".join(value.owners) or "no named owner"
    gap = value.unnamed if isinstance(value.unnamed, int) and value.unnamed else 0
    return (
        text(_short(workers, value.worker), "dim"),
        text(value.key, "name"),
        text(value.type_name),
        known(value.bytes, "size"),
        (*text(owners), *((Span(f" + {gap} not stored", "dim"),) if gap else ())),
    )


@blocks.register
def _transfers(fact: Transfers) -> tuple[Block, ...]:
    rows = tuple(_sent_row(fact.workers, key) for key in fact.sent)
    heads = ("from → to", "key", "bytes", "zero-copy", "copied", "why")
    copied = sum(key.copied_bytes for key in fact.sent if isinstance(key.copied_bytes, int))
    line = Line(
        "sent",
        (*text(f"{len(rows):,} keys"), Span(f"  {size(copied)} copied to be sent", "dim")),
        explain="A frame that is the value's own memory crosses without a copy (pickle protocol 5, PEP 574).",
        link=f"{_LINK}#transfers",
    )
    advice = dict.fromkeys(key.avoid for key in fact.sent if key.avoid)
    avoid = tuple(Line("avoid", text(words)) for words in advice)
    return (*_workers(fact.workers), Fold(line, (Table(heads, rows, (2, 3, 4)),), _SHOWN), *avoid)


def _sent_row(workers: tuple[Worker, ...], sent: Sent) -> tuple[tuple[Span, ...], ...]:
    way = f"{_short(workers, sent.source)} → {_short(workers, sent.target)}"
    why = str(sent.copied_bytes) if isinstance(sent.copied_bytes, Unknown) else sent.reason
    return (
        text(way, "dim"),
        text(sent.key, "name"),
        text(size(sent.bytes)),
        _amount(sent.zero_copy_bytes),
        _amount(sent.copied_bytes, "warn"),
        text(why, "dim"),
    )


def _amount(value: int | Unknown, style: str = "fact") -> tuple[Span, ...]:
    return text("?", "dim") if isinstance(value, Unknown) else text(size(value), style if value else "dim")


@blocks.register
def _trace(fact: ClusterTrace) -> tuple[Block, ...]:
    in_tasks = tuple(copy for copy in fact.copies if copy.task)
    others = tuple(copy for copy in fact.copies if not copy.task)
    dropped = f", {fact.dropped:,} records dropped" if fact.dropped else ""
    left_out = f", {fact.copies_left_out:,} small ones left out" if fact.copies_left_out else ""
    line = Line(
        "copies",
        (
            *text(_copied(in_tasks)),
            Span(f"  {fact.events:,} events in {fact.wall_ns / 1e9:.1f} s{dropped}{left_out}", "dim"),
        ),
        explain="Bytes that native code copied in tasks, by the kind of task; the largest first.",
        link=f"{_LINK}#trace",
    )
    besides = Line(
        "no task",
        (*text(_copied(others)), Span("  copied by Dask itself: messages, serialization", "dim")),
        link=f"{_LINK}#trace",
    )
    made: list[Block] = [Fold(line, (_copy_table(fact.workers, in_tasks),), _SHOWN)] if in_tasks else [line]
    if others:
        made.append(Fold(besides, (_copy_table(fact.workers, others),), 3))
    made += map(_remains, fact.remains)
    return (*_workers(fact.workers), *made)


def _remains(remains: Remains) -> Line:
    """How much of a dead worker's records could be read."""
    link = f"{_LINK}#a-worker-that-dies"
    if isinstance(remains.records, Unknown):
        said = Span(f"  an unknown number of records is lost: {remains.records.reason}", "warn")
        return Line("lost", (*text(remains.worker, "name"), said), link=link)
    lost = known(remains.lost) if isinstance(remains.lost, Unknown) else text(f"{remains.lost:,} lost", "dim")
    said = Span(f"  {remains.records:,} records read back from its files, ")
    return Line("remains", (*text(remains.worker, "name"), said, *lost), link=link)


@blocks.register
def _leaks(fact: ClusterLeaks) -> tuple[Block, ...]:
    made: list[Block] = [*_workers(fact.workers)]
    for found in fact.found:
        certain = sum(verdict.certain for verdict in found.leaks.verdicts)
        count = len(found.leaks.verdicts)
        said = f"{count} found, {certain} certain" if count else "none found"
        line = Line(
            _short(fact.workers, found.worker),
            text(said, "danger" if certain else "fact"),
            link="docs/reference/leaks.md",
        )
        made += [line, *of_leaks(found.leaks)]
    return tuple(made)


def _copied(copies: tuple[TaskCopy, ...]) -> str:
    return size(sum(task.copy.copied_bytes for task in copies))


def _copy_table(workers: tuple[Worker, ...], copies: tuple[TaskCopy, ...]) -> Table:
    rows = tuple(_copy_row(workers, copy) for copy in copies)
    return Table(("worker", "task", "copied", "by", "why", "line"), rows, (2,))


def _copy_row(workers: tuple[Worker, ...], one: TaskCopy) -> tuple[tuple[Span, ...], ...]:
    site = one.copy.site
    place = "?" if isinstance(site.file, Unknown) else f"{site.file.rpartition('/')[2]}:{site.line}"
    times = f" ×{one.copy.times:,}" if one.copy.times > 1 else ""
    return (
        text(_short(workers, one.worker), "dim"),
        text(one.task, "name") if one.task else text("no task", "dim"),
        text(size(one.copy.copied_bytes)),
        text(one.copy.function + times),
        text(one.copy.reason, "dim"),
        text(place, "dim"),
    )


def _workers(workers: tuple[Worker, ...]) -> tuple[Block, ...]:
    answered = [worker for worker in workers if worker.answer == "answered"]
    heads = tuple(
        head for head, amount in _AMOUNTS.items() if any(isinstance(amount(one), int) for one in answered)
    )
    rows = [_worker_row(worker, heads) for worker in answered]
    if len(rows) > 1:
        rows.append(_total_row(answered, heads))
    line = Line(
        "workers",
        text(
            f"{len(answered):,} of {len(workers):,} answered",
            "fact" if len(answered) == len(workers) else "warn",
        ),
        explain="managed: Dask's estimate of its keys. unmanaged: the rest of the process. "
        "owned: bytes the keys really have, each counted once; resident: the part in memory now; "
        "shared: bytes that several keys have in common; retained: freed with all keys.",
        link=f"{_LINK}#workers",
    )
    silent = tuple(
        Line(worker.answer, (*text(worker.address, "name"), Span(f"  {worker.reason}", "dim")))
        for worker in workers
        if worker.answer != "answered"
    )
    columns = ("worker", "pid", *heads)
    return (Fold(line, (Table(columns, tuple(rows), tuple(range(1, len(columns)))),), _SHOWN + 1), *silent)


def _unmanaged(worker: Worker) -> int | Unknown:
    if isinstance(worker.rss_bytes, int) and isinstance(worker.managed_bytes, int):
        return max(worker.rss_bytes - worker.managed_bytes, 0)
    return Unknown("not counted")


_AMOUNTS: Final[dict[str, Callable[[Worker], int | Unknown]]] = {
    "keys": lambda one: one.keys,
    "managed": lambda one: one.managed_bytes,
    "rss": lambda one: one.rss_bytes,
    "unmanaged": _unmanaged,
    "owned": lambda one: one.owned_bytes,
    "shared": lambda one: one.shared_bytes,
    "resident": lambda one: one.resident_bytes,
    "retained": lambda one: one.retained_bytes,
}


def _worker_row(one: Worker, heads: tuple[str, ...]) -> tuple[tuple[Span, ...], ...]:
    name = (Span(one.name, "name"), Span(f" {one.address}", "dim"))
    return (name, text(str(one.pid)), *(_cell(head, _AMOUNTS[head](one)) for head in heads))


def _total_row(workers: list[Worker], heads: tuple[str, ...]) -> tuple[tuple[Span, ...], ...]:
    amounts = ([_AMOUNTS[head](one) for one in workers] for head in heads)
    sums = (sum(one for one in column if isinstance(one, int)) for column in amounts)
    return (text("in all"), (), *(_cell(head, found) for head, found in zip(heads, sums, strict=True)))


def _cell(head: str, amount: int | Unknown) -> tuple[Span, ...]:
    if head == "keys" and isinstance(amount, int):
        return text(f"{amount:,}")
    return _amount(amount)


def _short(workers: tuple[Worker, ...], address: str) -> str:
    """A worker's name, or its address if it has no name."""
    return next((worker.name for worker in workers if worker.address == address and worker.name), address)
