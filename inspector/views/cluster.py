"""A cluster as tables: its workers first, silent ones with the reason, then what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from inspector.views.view import blocks, view

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
    kept = tuple(_kept_row(fact.workers, one) for one in fact.kept)
    if kept:
        line = Line("kept", text(_outliving(len(kept)), "warn"), link=f"{_LINK}#kept")
        made.append(Fold(line, (Table(("worker", "key", "type", "bytes", "held by"), kept, (3,)),), _SHOWN))
    for danger in fact.dangers:
        made.append(_danger(fact.workers, danger))
    for package, versions in fact.differing.items():
        said = ", ".join(f"{_short(fact.workers, worker)} {version}" for worker, version in versions.items())
        made.append(Line("differs", (*text(package, "warn"), Span(f"  {said}", "dim"))))
    if fact.unfollowed:
        words = f"{fact.unfollowed:,} finished keys of types without weak references: not followed"
        made.append(Line("note", text(words, "dim")))
    if not (fact.kept or fact.dangers or fact.differing):
        made.append(Line("findings", text("none")))
    return tuple(made)


def _outliving(count: int) -> str:
    return "1 value outlives its key" if count == 1 else f"{count:,} values outlive their keys"


def _danger(workers: tuple[Worker, ...], danger: Danger) -> Line:
    found = danger.finding
    return Line(
        "danger",
        (*text(danger.key, "name"), Span(f"  {found.what}"), Span(f"  {found.do}", "dim")),
        text(_short(workers, danger.worker), "dim"),
        found.why,
        found.page,
    )


def _kept_row(workers: tuple[Worker, ...], one: Kept) -> tuple[tuple[Span, ...], ...]:
    owners = ", ".join(one.owners) or "nobody that is named"
    gap = one.unnamed if isinstance(one.unnamed, int) and one.unnamed else 0
    return (
        text(_short(workers, one.worker), "dim"),
        text(one.key, "name"),
        text(one.type_name),
        known(one.bytes, "size"),
        (*text(owners), *((Span(f" + {gap} not stored", "dim"),) if gap else ())),
    )


@blocks.register
def _transfers(fact: Transfers) -> tuple[Block, ...]:
    rows = tuple(_sent_row(fact.workers, one) for one in fact.sent)
    heads = ("from → to", "key", "bytes", "zero-copy", "copied", "why")
    copied = sum(one.copied_bytes for one in fact.sent if isinstance(one.copied_bytes, int))
    line = Line(
        "sent",
        (*text(f"{len(rows):,} keys"), Span(f"  {size(copied)} copied to be sent", "dim")),
        explain="A frame that is the value's own memory crosses without a copy (pickle protocol 5, PEP 574).",
        link=f"{_LINK}#transfers",
    )
    advice = dict.fromkeys(one.avoid for one in fact.sent if one.avoid)
    told = tuple(Line("avoid", text(words)) for words in advice)
    return (*_workers(fact.workers), Fold(line, (Table(heads, rows, (2, 3, 4)),), _SHOWN), *told)


def _sent_row(workers: tuple[Worker, ...], one: Sent) -> tuple[tuple[Span, ...], ...]:
    way = f"{_short(workers, one.source)} → {_short(workers, one.target)}"
    why = str(one.copied_bytes) if isinstance(one.copied_bytes, Unknown) else one.reason
    return (
        text(way, "dim"),
        text(one.key, "name"),
        text(size(one.bytes)),
        _amount(one.zero_copy_bytes),
        _amount(one.copied_bytes, "warn"),
        text(why, "dim"),
    )


def _amount(value: int | Unknown, style: str = "fact") -> tuple[Span, ...]:
    return text("?", "dim") if isinstance(value, Unknown) else text(size(value), style if value else "dim")


@blocks.register
def _trace(fact: ClusterTrace) -> tuple[Block, ...]:
    ours = tuple(one for one in fact.copies if one.task)
    others = tuple(one for one in fact.copies if not one.task)
    dropped = f", {fact.dropped:,} records dropped" if fact.dropped else ""
    left_out = f", {fact.copies_left_out:,} small ones left out" if fact.copies_left_out else ""
    line = Line(
        "copies",
        (
            *text(_copied(ours)),
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
    made: list[Block] = [Fold(line, (_copy_table(fact.workers, ours),), _SHOWN)] if ours else [line]
    if others:
        made.append(Fold(besides, (_copy_table(fact.workers, others),), 3))
    made += [_remains(one) for one in fact.remains]
    return (*_workers(fact.workers), *made)


def _remains(one: Remains) -> Line:
    """What a worker that died had recorded."""
    link = f"{_LINK}#a-worker-that-dies"
    if isinstance(one.records, Unknown):
        said = Span(f"  its records are lost, how many is not known: {one.records.reason}", "warn")
        return Line("lost", (*text(one.worker, "name"), said), link=link)
    lost = known(one.lost) if isinstance(one.lost, Unknown) else text(f"{one.lost:,} lost", "dim")
    said = Span(f"  {one.records:,} records read back from its files, ")
    return Line("remains", (*text(one.worker, "name"), said, *lost), link=link)


@blocks.register
def _leaks(fact: ClusterLeaks) -> tuple[Block, ...]:
    made: list[Block] = [*_workers(fact.workers)]
    for one in fact.found:
        certain = sum(verdict.certain for verdict in one.leaks.verdicts)
        said = f"{len(one.leaks.verdicts)} found, {certain} certain" if one.leaks.verdicts else "none found"
        line = Line(
            _short(fact.workers, one.worker),
            text(said, "danger" if certain else "fact"),
            link="docs/reference/leaks.md",
        )
        made += [line, *view(one.leaks)]
    return tuple(made)


def _copied(copies: tuple[TaskCopy, ...]) -> str:
    return size(sum(one.copy.copied_bytes for one in copies))


def _copy_table(workers: tuple[Worker, ...], copies: tuple[TaskCopy, ...]) -> Table:
    rows = tuple(_copy_row(workers, one) for one in copies)
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
    answered = [one for one in workers if one.answer == "answered"]
    heads = tuple(head for head, amount in _AMOUNTS.items() if _any_known(amount(one) for one in answered))
    rows = [_worker_row(one, heads) for one in answered]
    if len(rows) > 1:
        rows.append(_total_row(answered, heads))
    line = Line(
        "workers",
        text(
            f"{len(answered):,} of {len(workers):,} answered",
            "fact" if len(answered) == len(workers) else "warn",
        ),
        explain="managed: what Dask believes its keys hold. unmanaged: the rest of the process. "
        "owned: what is really behind the keys, each byte once; resident: of that, in memory now; "
        "shared: what keys have of one another's memory; retained: freed if all keys went.",
        link=f"{_LINK}#workers",
    )
    silent = tuple(
        Line(one.answer, (*text(one.address, "name"), Span(f"  {one.reason}", "dim")))
        for one in workers
        if one.answer != "answered"
    )
    columns = ("worker", "pid", *heads)
    return (Fold(line, (Table(columns, tuple(rows), tuple(range(1, len(columns)))),), _SHOWN + 1), *silent)


def _unmanaged(one: Worker) -> int | Unknown:
    if isinstance(one.rss_bytes, int) and isinstance(one.managed_bytes, int):
        return max(one.rss_bytes - one.managed_bytes, 0)
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


def _any_known(amounts: Iterable[int | Unknown]) -> bool:
    return any(isinstance(amount, int) for amount in amounts)


def _worker_row(one: Worker, heads: tuple[str, ...]) -> tuple[tuple[Span, ...], ...]:
    name = (Span(one.name, "name"), Span(f" {one.address}", "dim"))
    return (name, text(str(one.pid)), *(_cell(head, _AMOUNTS[head](one)) for head in heads))


def _total_row(workers: list[Worker], heads: tuple[str, ...]) -> tuple[tuple[Span, ...], ...]:
    """The sum of what is known."""
    amounts = ([_AMOUNTS[head](one) for one in workers] for head in heads)
    sums = (sum(one for one in column if isinstance(one, int)) for column in amounts)
    return (text("in all"), (), *(_cell(head, found) for head, found in zip(heads, sums, strict=True)))


def _cell(head: str, amount: int | Unknown) -> tuple[Span, ...]:
    if head == "keys" and isinstance(amount, int):
        return text(f"{amount:,}")
    return _amount(amount)


def _short(workers: tuple[Worker, ...], address: str) -> str:
    """A worker's name where it has one, else its address."""
    return next((one.name for one in workers if one.address == address and one.name), address)
