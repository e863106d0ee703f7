"""The first sentences about a trace: what the user's lines copied, shared and lost."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence
from typing import Any

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer, Answers
from inspector.facts.conversion import Copy, Loss, Trace
from inspector.facts.hosted import HostCall
from inspector.facts.nodes import Nodes
from inspector.facts.nothing import Nothing
from inspector.facts.statements import Statement, Statements
from inspector.facts.unknown import Unknown
from inspector.verdicts.advice.told import worth_a_change
from inspector.verdicts.answers.words import answer
from inspector.verdicts.graph_nodes import graphs
from inspector.verdicts.host_answers import advice, host_answers
from inspector.verdicts.losses import RANKS

MOST_TEXT = 24
"""Characters of a value in a sentence."""
_NO_COPY, _LOST = "no-copy-in-your-lines", "values-changed"


def with_answers(found: Statements, trace: Trace, nodes: Nodes | None = None) -> dict[str, Any]:
    """The columns of a trace's report; first what compiled graphs did, if any was called."""
    said = [*answers(found, trace), *advice(trace.hosted.lines)]
    if nodes is not None:
        first = [one for one in said if one.slug == _LOST]
        said = [*first, *graphs(nodes), *(one for one in said if one.slug not in (_LOST, _NO_COPY))]
    columns = {"answers": Answers(tuple(said)), "statements": found}
    return {**columns, **({"nodes": nodes} if nodes is not None else {}), "trace": trace}


def answers(found: Statements, trace: Trace) -> Iterator[Answer]:
    """What the statements did, the most important first."""
    rows = [row for row in found.rows if row.verdict != "no bytes" or row.losses or row.inside]
    if trace.hosted.lines.language:
        yield from host_answers(trace.hosted.lines)
        return
    yield from _lost(rows)
    yield from _hosted(trace)
    if rows or trace.calls or not trace.hosted.asked:
        yield _copied(rows, trace)
    yield from worth_a_change(rows)
    if trace.calls_skipped:
        text = f"A sample: {trace.calls_skipped:,} calls from Python left out."
        yield answer("sampled", text, "trace.calls_skipped")
    if trace.dropped:
        text = f"{trace.dropped:,} records did not fit: this is of the last {trace.events:,}."
        yield answer("records-dropped", text, "trace.dropped")


def _copied(rows: Sequence[Statement], trace: Trace) -> Answer:
    copied = [row for row in rows if row.verdict == "copied"]
    shared = [row for row in rows if row.verdict in ("view", "shared")]
    inside = [one for row in rows for one in row.inside]
    total = sum(row.copied_bytes for row in copied)
    parts = []
    if copied:
        parts.append(f"{size(total)} copied by {_lines(copied)}")
    if shared:
        known = [row.bytes for row in shared if not isinstance(row.bytes, Unknown)]
        parts.append(f"{size(sum(known))} shared by {_lines(shared)}")
    if inside:
        parts.append(f"{size(sum(one.bytes for one in inside))} copied inside libraries")
    if not parts:
        return _elsewhere(rows, trace)
    text = ", ".join(parts)
    said = f"{text[0].upper()}{text[1:]}.{_not_known(rows)}"
    return answer("lines-copied", said, "statements.rows", costs_bytes=total)


def _not_known(rows: Sequence[Statement]) -> str:
    """A sentence on the bytes of which it is not known whether they are copies; "" if there are none."""
    found = [row for row in rows if row.verdict == "unknown"]
    known = sum(row.bytes for row in found if not isinstance(row.bytes, Unknown))
    return f" Whether {size(known)} of {_lines(found)} were copied is not known." if known else ""


def _lines(rows: Sequence[Statement]) -> str:
    lines = {(row.site.file, row.site.line) for row in rows}
    return "one line" if len(lines) == 1 else counted(len(lines), "line")


def _elsewhere(rows: Sequence[Statement], trace: Trace) -> Answer:
    """Of a trace whose statements copied nothing: what others copied; else what was looked at."""
    lines = {(row.site.file, row.site.line) for row in rows}
    copied = [copy for copy in trace.copies if copy.verdict == "copied"]
    others = [copy for copy in copied if (copy.site.file, copy.site.line) not in lines]
    seen = counted(sum(call.times for call in trace.calls), "call")
    if others:
        text = f"{_of_calls('copied', others)} from {_whose(others, trace)}."
        return answer(_NO_COPY, text, "statements.rows")
    if copied:  # in lines whose values do not say so
        text = f"{_of_calls('probably copied', copied)}."
        return answer(_NO_COPY, text, "statements.rows", certain=False)
    if isinstance(trace.losses, Unknown):
        return answer(_NO_COPY, f"{seen} into native code; copies were not looked for.", "statements.rows")
    if trace.calls or rows:
        found = Nothing(f"{seen} into native code", _not_looked_at(rows, trace))
        text = f"No copy was seen in {found}."
    elif trace.hosted.hosts:
        names = ", ".join(path.rpartition("/")[2] for path in trace.hosted.hosts)
        missed = "functions that it looked up before Python started and keeps in no global variable"
        found = Nothing(f"calls by {names}", missed)
        text = f"No call by {names} was seen. Not watched: {missed}."
    else:
        functions = counted(sum(one.functions_hooked for one in trace.seen), "function")
        modules = counted(len(trace.seen), "module")
        left_out = _left_out(trace)
        found = Nothing(f"{functions} of {modules}", counted(left_out, "function") if left_out else "")
        full = f", {left_out:,} not: no trampoline is left" if left_out else ""
        text = f"No call into native code was seen; {found.covered} were watched{full}."
    return answer(_NO_COPY, text, "statements.rows", certain=found.is_closed, nothing=found)


def _of_calls(did: str, copies: Sequence[Copy]) -> str:
    calls = counted(sum(copy.times for copy in copies), "call")
    return f"{size(sum(copy.copied_bytes for copy in copies))} {did} by {calls}"


def _whose(copies: Sequence[Copy], trace: Trace) -> str:
    """The lines of a host that led to copies, or imports; else that no line of the user's did."""
    if all(copy.site.text.startswith(("import ", "from ")) for copy in copies):
        return "imports"
    own = {(path, line) for path, line, _ in trace.hosted.own_lines}
    lines = {(copy.site.file, copy.site.line) for copy in copies}
    return counted(len(lines), "line") if lines <= own else "no line of yours"


def _not_looked_at(rows: Sequence[Statement], trace: Trace) -> str:
    """What may hold a copy that the trace does not show; "" if nothing may."""
    unknown = len({(row.site.file, row.site.line) for row in rows if row.verdict == "unknown"})
    parts = (
        (unknown, "line"),
        (trace.dropped, "dropped record"),
        (trace.calls_skipped, "skipped call"),
        (_left_out(trace), "unwatched function"),
    )
    return ", ".join(counted(count, word) for count, word in parts if count)


def _left_out(trace: Trace) -> int:
    """Functions that were not watched because the process had no trampoline left for them."""
    return sum(one.functions_left_out for one in trace.seen)


def _hosted(trace: Trace) -> Iterator[Answer]:
    """How often a program that embeds Python called it."""
    if trace.hosted.asked:
        hosts = ", ".join(path.rpartition("/")[2] for path in trace.hosted.hosts)
        where = f" from {counted(len(trace.hosted.own_lines), 'line')}" if trace.hosted.own_lines else ""
        text = f"{hosts} called Python's C API {counted(trace.hosted.asked, 'time')}{where}."
        yield answer("hosted", text, "trace.hosted")
    yield from _changed_in_host(trace.hosted.calls)


def _changed_in_host(calls: Sequence[HostCall]) -> Iterator[Answer]:
    """Values that a host lost, and conversions that Python refused it, in one sentence."""
    lost, refused = [one for one in calls if one.lost], [one for one in calls if one.refused]
    said = []
    for found, noun, did in ((lost, "value", "lost"), (refused, "conversion", "refused")):
        if found:
            site, what = found[0].site, found[0].lost or found[0].refused
            where = "" if isinstance(site, Unknown) else f" in line {site.line}"
            count = counted(sum(call.times for call in found), noun)
            said.append(f"{count} {did}, the first{where}: {what}")
    if said:
        yield answer("host-lost", f"{'; '.join(said)}.", "trace.hosted")


def _lost(rows: Sequence[Statement]) -> Iterator[Answer]:
    """The worst loss of values of the user's, with the first one before and after."""
    found = [(row, loss) for row in rows for loss in row.losses if not loss.is_asked_for]
    if found:
        row, loss = min(found, key=lambda one: RANKS.index(one[1].rule))
        others = len({(one.site.file, one.site.line) for one, _ in found}) - 1
        lose = f"; {counted(others, 'other line')} {'loses' if others == 1 else 'lose'} values too"
        text = f"{_changed(loss)} in line {row.site.line}: {_pair(loss)}{lose if others else ''}."
        yield answer(_LOST, text, "statements.rows")


def _changed(loss: Loss) -> str:
    count = loss.lost * loss.times
    if loss.elements <= 1:
        return f"A value {loss.how}" if count == 1 else f"{count:,} values {loss.how}"
    least = "At least " if loss.confidence == "by sample" else ""
    return f"{least}{loss.lost + loss.others:,} of {loss.elements:,} values {loss.how}"


def _pair(loss: Loss) -> str:
    pair = [
        text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…" for text in (loss.before, loss.after)
    ]
    return f"`{pair[0]}` → `{pair[1]}`"
