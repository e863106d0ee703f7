"""Draws a cluster as tables: the workers first (with the reason if one is silent), then the result."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Final

from inspector.facts.amounts import counted
from inspector.facts.cluster import (
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
)
from inspector.facts.leaks import Leaks
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Immortal, Unknown
from inspector.views.amounts import known, size, total
from inspector.views.grammar import Block, Fold, Line, Span, Table, nothing, text
from inspector.views.leaks import of_leaks
from inspector.views.place import few
from inspector.views.view import blocks

_SHOWN = 8
_WORKERS = 5
"""Rows of a table of workers, with the row of all."""
_LINK = "docs/reference/cluster.md"


@blocks.register
def _keys(fact: Keys) -> tuple[Block, ...]:
    rows = tuple(_kind_row(fact.workers, kind) for kind in fact.kinds)
    keys = sum(kind.keys for kind in fact.kinds)
    line = Line(
        "keys", text(f"{counted(keys, 'value')} of {counted(len(fact.kinds), 'kind')}"), link=f"{_LINK}#keys"
    )
    by_kind = Table(("kind of task", "values", "type", "bytes", "worker"), rows, (1, 3))
    more = f"  {fact.left_out:,} smaller ones left out" if fact.left_out else ""
    each = Line("each", (*text(f"the {len(fact.keys):,} largest"), Span(more, "dim")), link=f"{_LINK}#keys")
    heads = ("worker", "key", "type", "bytes", "refs", "state", "copies")
    table = Table(heads, tuple(_key_row(fact.workers, key) for key in fact.keys), (3, 4, 6))
    return (
        *_workers(fact.workers),
        Fold(line, (by_kind,), _SHOWN),
        *((Fold(each, (table,), 0),) if fact.keys else ()),
    )


def _kind_row(workers: tuple[Worker, ...], kind: Kind) -> tuple[tuple[Span, ...], ...]:
    bytes_ = [] if kind.unknown == kind.keys else [kind.bytes]
    return (
        text(kind.task, "name"),
        text(f"{kind.keys:,}"),
        text(kind.type_name),
        text(total([*bytes_, *[Unknown("")] * kind.unknown])),
        text(few(tuple(_short(workers, one) for one in kind.workers), ", "), "dim"),
    )


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
    made: list[Block] = [*_workers(fact.workers), *_outliving(fact), *_beside(fact)]
    made += _dangers(fact)
    for package, versions in fact.differing.items():
        said = ", ".join(f"{_short(fact.workers, worker)} {version}" for worker, version in versions.items())
        made.append(Line("differs", (*text(package, "warn"), Span(f"  {said}", "dim"))))
    if fact.unfollowed:
        words = f"{fact.unfollowed:,} finished keys of types without weak references: not followed"
        made.append(Line("note", text(words, "dim")))
    return tuple(made)


def _outliving(fact: ClusterFindings) -> tuple[Block, ...]:
    kept = tuple(_kept_row(fact.workers, value) for value in fact.kept)
    if not kept:
        return ()
    words = "1 value outlives its key" if len(kept) == 1 else f"{len(kept):,} values outlive their keys"
    line = Line("kept", text(words, "warn"), link=f"{_LINK}#kept")
    return (Fold(line, (Table(("worker", "key", "type", "bytes", "held by"), kept, (3,)),), _SHOWN),)


def _beside(fact: ClusterFindings) -> tuple[Block, ...]:
    rows = tuple(
        (
            text(_short(fact.workers, one.worker), "dim"),
            text(one.path, "name"),
            text(one.type_name),
            text(size(one.bytes)),
            text(one.state, "dim"),
        )
        for one in fact.beside
    )
    if not rows:
        return ()
    line = Line(
        "globals",
        text(f"hold {size(sum(one.bytes for one in fact.beside))}", "warn"),
        link=f"{_LINK}#globals",
    )
    return (Fold(line, (Table(("worker", "global", "type", "bytes", ""), rows, (3,)),), 6),)


def _dangers(fact: ClusterFindings) -> tuple[Block, ...]:
    """A line for each kind of danger; keys that differ only by number are counted."""
    alike: dict[tuple[str, str], list[Danger]] = {}
    for danger in fact.dangers:
        alike.setdefault((danger.finding.slug, danger.finding.do), []).append(danger)
    lines = tuple(_danger(fact.workers, found) for found in alike.values())
    many = Line("dangers", text(f"{counted(len({one.key for one in fact.dangers}), 'key')}", "warn"))
    return (Fold(many, lines, 3),) if len(lines) > 3 else lines


def _danger(workers: tuple[Worker, ...], alike: list[Danger]) -> Line:
    found, keys = alike[0].finding, list(dict.fromkeys(one.key for one in alike))
    more = f" and {len(keys) - 1:,} more" if len(keys) > 1 else ""
    where = list(dict.fromkeys(_short(workers, one.worker) for one in alike))
    said = (Span(more), Span(f"  {found.what}"), Span(f"  {found.do}", "dim"))
    return Line(
        "danger", (*text(keys[0], "name"), *said), text(few(tuple(where), ", "), "dim"), found.why, found.page
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
    alike: dict[tuple[str, str, str], list[Sent]] = {}
    for sent in fact.sent:
        alike.setdefault((sent.kind, sent.type_name, sent.reason), []).append(sent)
    rows = tuple(_sent_row(fact.workers, found) for found in alike.values())
    line = Line(
        "sent",
        (
            *text(counted(len(fact.sent), "key")),
            Span(f"  {total(one.copied_bytes for one in fact.sent)} copied to be sent", "dim"),
        ),
        explain="A frame that is the value's own memory crosses without a copy (pickle protocol 5, PEP 574).",
        link=f"{_LINK}#transfers",
    )
    heads = ("from → to", "kind of task", "keys", "bytes", "zero-copy", "copied", "why")
    advice = dict.fromkeys(key.avoid for key in fact.sent if key.avoid)
    avoid = tuple(Line("avoid", text(words)) for words in advice)
    return (*_workers(fact.workers), Fold(line, (Table(heads, rows, (2, 3, 4, 5)),), _SHOWN), *avoid)


def _sent_row(workers: tuple[Worker, ...], alike: list[Sent]) -> tuple[tuple[Span, ...], ...]:
    first = alike[0]
    ways = {f"{_short(workers, one.source)} → {_short(workers, one.target)}" for one in alike}
    gone = next((one.copied_bytes.reason for one in alike if isinstance(one.copied_bytes, Unknown)), "")
    return (
        text(ways.pop() if len(ways) == 1 else counted(len(ways), "way"), "dim"),
        text(first.kind, "name"),
        text(f"{len(alike):,}"),
        text(size(sum(one.bytes for one in alike))),
        text(total(one.zero_copy_bytes for one in alike)),
        text(total(one.copied_bytes for one in alike)),
        text(first.reason or gone, "dim"),
    )


def _amount(value: int | Unknown, style: str = "fact") -> tuple[Span, ...]:
    return text("?", "dim") if isinstance(value, Unknown) else text(size(value), style if value else "dim")


@blocks.register
def _trace(fact: ClusterTrace) -> tuple[Block, ...]:
    in_tasks = tuple(copy for copy in fact.copies if copy.task)
    others = tuple(copy for copy in fact.copies if not copy.task)
    left_out = f", {fact.copies_left_out:,} small ones left out" if fact.copies_left_out else ""
    seen = f"{counted(fact.events, 'record')} in {fact.wall_ns / 1e9:.1f} s"
    dropped = counted(fact.dropped, "dropped record") if fact.dropped else ""
    none = nothing(Nothing(seen, dropped), "no copy")
    more = f", {dropped}" if dropped else ""
    line = Line(
        "copies",
        (*text(_copied(in_tasks)), Span(f"  {seen}{more}{left_out}", "dim")) if in_tasks else none,
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
        said = text(f"{count} found, {certain} certain", "danger" if certain else "fact")
        line = Line(
            _short(fact.workers, found.worker),
            said if count else nothing(_watched(found.leaks)),
            link="docs/reference/leaks.md",
        )
        made += [line, *of_leaks(found.leaks)]
    return tuple(made)


def _watched(leaks: Leaks) -> Nothing:
    """What the verdicts of a worker are about."""
    calls = counted(sum(one.calls for one in leaks.watched), "watched call")
    return Nothing(calls, counted(leaks.not_noted, "dropped event") if leaks.not_noted else "")


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
        rows.insert(0, _total_row(answered, heads))
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
    return (Fold(line, (Table(columns, tuple(rows), tuple(range(1, len(columns)))),), _WORKERS), *silent)


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
    name = (Span(one.name, "name"), Span(f" {one.address.removeprefix('tcp://')}", "dim"))
    return (name, text(str(one.pid)), *(_cell(head, _AMOUNTS[head](one)) for head in heads))


def _total_row(workers: list[Worker], heads: tuple[str, ...]) -> tuple[tuple[Span, ...], ...]:
    amounts = ([_AMOUNTS[head](one) for one in workers] for head in heads)
    sums = (_in_all(head, column) for head, column in zip(heads, amounts, strict=True))
    return (text("in all"), (), *sums)


def _in_all(head: str, column: list[int | Unknown]) -> tuple[Span, ...]:
    return text(total(column, "{:,}".format if head == "keys" else size))


def _cell(head: str, amount: int | Unknown) -> tuple[Span, ...]:
    if head == "keys" and isinstance(amount, int):
        return text(f"{amount:,}")
    return _amount(amount)


def _short(workers: tuple[Worker, ...], address: str) -> str:
    """A worker's name, or its address if it has no name."""
    return next((worker.name for worker in workers if worker.address == address and worker.name), address)
