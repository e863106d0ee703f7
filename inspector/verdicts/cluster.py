"""The first sentences about a Dask cluster: what keys hold, what was sent, what outlives them."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Sequence

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer, Answers
from inspector.facts.cluster import (
    ClusterFindings,
    ClusterTrace,
    Keys,
    Kind,
    Sent,
    TaskCopy,
    Transfers,
    Worker,
)
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, code, listed

MOST = 3


def of_keys(fact: Keys) -> Answers:
    """How many values of keys, what they hold, and the kinds that hold most."""
    where = _on(fact.workers)
    keys = sum(kind.keys for kind in fact.kinds)
    if not keys:
        text, sure = f"No key is in memory on {where}.", not _silent(fact.workers)
        looked = _looked_at(fact.workers)
        return Answers((answer("no-keys", text, "cluster_keys.kinds", certain=sure, nothing=looked),))
    owned = [one.owned_bytes for one in fact.workers if not isinstance(one.owned_bytes, Unknown)]
    unknown = sum(kind.unknown for kind in fact.kinds)
    less = f", and {unknown:,} of them bytes that are not known" if unknown else ""
    most = listed((_kind(kind) for kind in fact.kinds[:MOST]), 0)
    verb = "holds" if keys == 1 else "hold"
    text = f"{counted(keys, 'value')} on {where} {verb} {size(sum(owned))}{less}: {most}"
    rest = len(fact.kinds) - MOST
    more = f" and {counted(rest, 'kind')} more" if rest > 0 else ""
    return Answers((answer("keys-hold", f"{text}{more}.", "cluster_keys.kinds", costs_bytes=sum(owned)),))


def _kind(kind: Kind) -> str:
    times = f" ×{kind.keys:,}" if kind.keys > 1 else ""
    return f"{code(kind.task)}{times} {size(kind.bytes) if kind.unknown < kind.keys else '?'}"


def of_sent(fact: Transfers) -> Answers:
    """What was copied to be sent; of how many keys that is not known."""
    if not fact.sent:
        found = _looked_at(fact.workers, "their logs of what they sent last")
        text = f"No key was sent by {_on(fact.workers)}, by the logs of their last messages."
        return Answers((answer("no-key-sent", text, "cluster_transfers.sent", certain=False, nothing=found),))
    copied = [one for one in fact.sent if not isinstance(one.copied_bytes, Unknown) and one.copied_bytes]
    unknown = sum(isinstance(one.copied_bytes, Unknown) for one in fact.sent)
    total = sum(one.copied_bytes for one in copied if not isinstance(one.copied_bytes, Unknown))
    text = "; ".join([counted(len(fact.sent), "key") + " sent", *_copied(copied, total, fact, unknown)])
    evidence = "cluster_transfers.sent"
    looked = () if copied else (Nothing(counted(len(fact.sent) - unknown, "sent key"), _of(unknown)),)
    said = Answer("keys-sent", f"{text}.", not unknown, (), (evidence,), "", total, looked)
    return Answers((said, *_avoid(copied)))


def _of(unknown: int) -> str:
    return counted(unknown, "other key") if unknown else ""


def _copied(copied: Sequence[Sent], total: int, fact: Transfers, unknown: int) -> Iterator[str]:
    if copied:
        yield f"{size(total)} copied first for {len(copied):,} of them"
    elif unknown < len(fact.sent):
        yield f"no byte of {counted(len(fact.sent) - unknown, 'key')} was copied first"
    if unknown:
        yield f"of {unknown:,} it is not known: they were gone, or too large to try"


def _avoid(copied: Iterable[Sent]) -> Iterator[Answer]:
    for one in copied:
        if one.avoid:
            text = f"{code(one.kind)}, {one.reason}: {one.avoid}."
            yield answer("sent-copied", text, "cluster_transfers.sent", do=one.avoid)
            return


def of_findings(fact: ClusterFindings) -> Answers:
    """What outlives its key or is held beside keys; then dangers; or what nothing was found in."""
    found = [*_kept(fact), *_beside(fact), *_dangers(fact)]
    if found:
        return Answers(tuple(found[:MOST]))
    looked = _looked_at(fact.workers, "keys, what outlived them and the globals of your modules")
    looked = Nothing(looked.covered, _left(looked.not_covered, *_unlooked(fact)))
    text = f"Nothing was found in {looked}."
    done = answer("nothing-found", text, "cluster_findings", certain=looked.is_closed, nothing=looked)
    return Answers((done,))


def _unlooked(fact: ClusterFindings) -> Iterator[str]:
    if fact.keys_left_out:
        yield counted(fact.keys_left_out, "other key")
    if fact.unfollowed:
        yield counted(fact.unfollowed, "finished value")


def _left(*parts: str) -> str:
    """What was not looked at, in words; "" if that is nothing."""
    told = [part for part in parts if part]
    return listed(told) if told else ""


def _kept(fact: ClusterFindings) -> Iterator[Answer]:
    if not fact.kept:
        return
    first = max(fact.kept, key=lambda one: 0 if isinstance(one.bytes, Unknown) else one.bytes)
    amount = "?" if isinstance(first.bytes, Unknown) else size(first.bytes)
    several = f"{len(fact.kept):,} values outlive their keys"
    many = "One value outlives its key" if len(fact.kept) == 1 else several
    held = f", held by {listed(map(code, first.owners[:2]))}" if first.owners else ", and no holder was found"
    text = f"{many}: {amount} of {code(first.key)}{held}."
    yield answer("outlives-key", text, "cluster_findings.kept")


def _beside(fact: ClusterFindings) -> Iterator[Answer]:
    if fact.beside:
        total = sum(one.bytes for one in fact.beside)
        named = (f"{code(one.path)} {size(one.bytes)}" for one in fact.beside)
        text = f"Globals of your code hold {size(total)} on workers: {listed(named, MOST)}."
        yield answer("held-by-globals", text, "cluster_findings.beside", costs_bytes=total)


def _dangers(fact: ClusterFindings) -> Iterator[Answer]:
    if fact.dangers:
        first, keys = fact.dangers[0], len({one.key for one in fact.dangers})
        text = f"{counted(keys, 'key')} with a danger, the first {code(first.key)}: {first.finding.what}."
        yield answer("keys-in-danger", text, "cluster_findings.dangers", do=first.finding.do)


def of_trace(fact: ClusterTrace) -> Answers:
    """What tasks copied, by kind; or what no copy was seen in."""
    copies = [one for one in fact.copies if one.task]
    dropped = counted(fact.dropped, "dropped record") if fact.dropped else ""
    if not copies:
        looked = Nothing(counted(fact.events, "record"), _left(dropped, _silent(fact.workers)))
        less = f"; not looked at: {looked.not_covered}" if looked.not_covered else ""
        text = f"No copy was seen in tasks, in {looked.covered} of {_on(fact.workers)}{less}."
        sure = looked.is_closed
        return Answers((answer("no-copy-in-tasks", text, "cluster_trace", certain=sure, nothing=looked),))
    total = sum(one.copy.copied_bytes for one in copies)
    text = (
        f"{size(total)} copied in tasks: {listed(_by_task(copies), MOST)}{f'; {dropped}' if dropped else ''}."
    )
    return Answers((answer("tasks-copied", text, "cluster_trace.copies", costs_bytes=total),))


def _by_task(copies: Iterable[TaskCopy]) -> Iterator[str]:
    by_task: dict[str, int] = {}
    for one in copies:
        by_task[one.task] = by_task.get(one.task, 0) + one.copy.copied_bytes
    return (
        f"{code(task)} {size(bytes_)}" for task, bytes_ in sorted(by_task.items(), key=lambda row: -row[1])
    )


def _on(workers: Sequence[Worker]) -> str:
    return counted(sum(one.answer == "answered" for one in workers), "worker")


def _silent(workers: Sequence[Worker]) -> str:
    silent = sum(one.answer != "answered" for one in workers)
    return f"{counted(silent, 'worker')} without an answer" if silent else ""


def _looked_at(workers: Sequence[Worker], what: str = "what they hold in memory") -> Nothing:
    return Nothing(f"{what}, on {_on(workers)}", _silent(workers))
