"""Draws a trace: what was copied and why, what was shared, what was lost, and the tree of calls."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from itertools import chain

from inspector.facts.amounts import counted
from inspector.facts.conversion import (
    Call,
    Conversion,
    Copy,
    Crossing,
    Loss,
    Materialized,
    Seen,
    Trace,
    Value,
)
from inspector.facts.native import Place
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Unknown
from inspector.views.amounts import became, size
from inspector.views.came_through import came_through
from inspector.views.counted import of_counted
from inspector.views.gil import given_up
from inspector.views.grammar import Block, Fold, Line, Span, Table, nothing, text
from inspector.views.hosted import of_hosted
from inspector.views.imported import of_imports, without_imports
from inspector.views.losses import rounding
from inspector.views.sites import duration, place, unsaid
from inspector.views.view import blocks

PAGE = "docs/reference/traces.md"
FRESH = ("copied", "computed", "made")
COPIES_SHOWN, CALLS_SHOWN, INNER_SHOWN = 12, 40, 12
"""Lines shown of a fold; the rest is counted."""


@blocks.register
def of_trace(fact: Trace) -> tuple[Block, ...]:
    """Copies, shared bytes, losses, lines, the call tree, and what the trace could not see."""
    rest = without_imports(fact)
    return (
        *_copies(rest),
        *_shared(rest),
        *_lost(fact),
        *_materialized(fact.materialized),
        *of_hosted(fact.hosted),
        *_lines(rest.crossings),
        *given_up(fact.released),
        *_tree(rest),
        *of_imports(fact, rest),
        *_finalized(fact.finalized),
        *of_counted(fact),
        *_unseen(fact),
        _footer(fact),
    )


def copied_rows(fact: Trace) -> Iterator[Line]:
    """Copies that no line of the user's made, those with most bytes, each with its reason."""
    copied = [copy for copy in fact.copies if copy.verdict == "copied"]
    for copy in sorted(copied, key=lambda copy: -copy.copied_bytes)[: COPIES_SHOWN // 2]:
        yield from _copy(copy)


def _recorded(fact: Trace, host: str = "") -> Nothing:
    """What the trace looked at, and what not."""
    times = sum(call.times for call in fact.calls)
    hooked = counted(sum(one.functions_hooked for one in fact.seen), "watched function")
    calls = counted(times, "recorded call") if times else f"{hooked}, which nobody called"
    dropped = counted(fact.dropped, "dropped record") if fact.dropped else ""
    left_out = sum(one.functions_left_out for one in fact.seen)
    full = counted(left_out, "unwatched function") if left_out else ""
    return Nothing(calls, ", ".join(one for one in (dropped, full, host) if one))


def _copies(fact: Trace) -> Iterator[Block]:
    copied = [copy for copy in fact.copies if copy.verdict == "copied"]
    crossed = sum(copy.times for copy in fact.copies)
    total = sum(copy.copied_bytes for copy in copied)
    times = sum(copy.times for copy in copied)
    said = text(
        f"{times:,} of {crossed:,} crossings with bytes copied {size(total)}", "warn" if total else "fact"
    )
    summary = Line(
        "copies",
        said if crossed else nothing(_recorded(fact), "no value with bytes"),
        text(f"{duration(fact.wall_ns)}", "dim"),
        explain="A result in new memory with an argument's values is a copy.",
        link=f"{PAGE}#copies",
    )
    yield Fold(summary, tuple(line for copy in copied for line in _copy(copy)), COPIES_SHOWN)
    fresh = [copy for copy in fact.copies if copy.verdict in ("computed", "made")]
    if fresh:
        total = sum(copy.copied_bytes for copy in fresh)
        note = Line("new", text(f"{size(total)} of results that are no copies"), link=f"{PAGE}#verdicts")
        yield Fold(note, tuple(_row(copy, copy.copied_bytes) for copy in fresh), 3)


def _copy(copy: Copy) -> Iterator[Line]:
    yield _row(copy, copy.copied_bytes)
    sureness = f" ({copy.confidence})" if copy.confidence != "certain" else ""
    yield Line("", text(f"why    {copy.reason}{sureness}", "dim"))
    if copy.avoid:
        yield Line("", text(f"avoid  {copy.avoid}", "dim"))
    if not isinstance(copy.allocator, Unknown):
        yield Line("", text(f"memory {copy.allocator}", "dim"))
    yield from _through(copy.frames)


def _row(copy: Copy, bytes_: int) -> Line:
    times = f" ×{copy.times:,}" if copy.times > 1 else ""
    strided = f", {size(copy.span_bytes)} apart" if copy.span_bytes > copy.copied_bytes > 0 else ""
    return Line(
        size(bytes_),
        (
            *place(copy.site),
            Span("  " + (copy.site.text or copy.function) + times, "python"),
            *unsaid(copy.site.text, copy.function),
            Span(f"  {copy.source} → {copy.result}{strided}", "dim"),
        ),
    )


def _shared(fact: Trace) -> Iterator[Block]:
    shared = [copy for copy in fact.copies if copy.verdict in ("shared", "in place")]
    if shared:
        total = sum(copy.span_bytes for copy in shared)
        head = Line("shared", text(f"{size(total)} crossed without a copy", "good"), link=f"{PAGE}#verdicts")
        yield Fold(head, tuple(_row(copy, copy.span_bytes) for copy in shared), COPIES_SHOWN // 2)


def _lost(fact: Trace) -> Iterator[Block]:
    losses = fact.losses
    if isinstance(losses, Unknown):
        yield Line("lost", text(str(losses), "dim"), link=f"{PAGE}#losses")
        return
    if not losses:
        host = "what the host's own lines convert" if fact.hosted.lines.language else ""
        yield Line(
            "lost", nothing(_recorded(fact, host), "no value was seen to change"), link=f"{PAGE}#losses"
        )
        return
    lines = tuple(
        Line(
            loss.rule,
            (
                *place(loss.site),
                Span(f"  {loss.site.text or loss.function}  ", "python"),
                *text(_pair(loss), "dim" if loss.is_asked_for else "danger"),
                Span(_how_many(loss), "dim"),
            ),
        )
        for loss in losses
    )
    worst = "dim" if all(loss.is_asked_for for loss in losses) else "danger"
    yield Fold(Line("lost", text(_all_lost(losses), worst)), lines, 6)


def _pair(loss: Loss) -> str:
    by = f", by at most {rounding(loss)} of the value" if loss.is_asked_for and loss.largest_error else ""
    return f"{loss.before} → {loss.after}{by}"


def _all_lost(losses: tuple[Loss, ...]) -> str:
    count, values = sum(loss.times for loss in losses), sum(loss.lost * loss.times for loss in losses)
    conversions = "1 conversion" if count == 1 else f"{count:,} conversions"
    return f"{conversions} changed {values:,} value{'s' if values != 1 else ''}"


def _how_many(loss: Loss) -> str:
    """ "  element 3, and 6 more of 1,000"; mentions a sample."""
    more = f", and {loss.lost - 1:,} more" if loss.lost > 1 else ""
    times = f", in {loss.times:,} calls" if loss.times > 1 else ""
    if loss.elements == 1:
        return f"  in {loss.times:,} calls" if loss.times > 1 else ""
    all_ = f" of {loss.elements:,}"
    sampled = f" in a sample of {loss.compared:,}" if loss.confidence == "by sample" else ""
    return f"  element {loss.first:,}{more}{sampled}{all_}{times}"


def _materialized(rows: tuple[Materialized, ...]) -> Iterator[Block]:
    """Materialized objects; equal ones of one line are merged."""
    if not rows:
        return
    alike: dict[tuple[str, str, str], list[Materialized]] = {}
    for row in rows:
        alike.setdefault((row.type_name, row.cause, repr(row.site)), []).append(row)
    known = [row.materialized_bytes for row in rows if not isinstance(row.materialized_bytes, Unknown)]
    said = f"{len(rows):,} materialized, {size(sum(known))}"
    head = Line("state", text(said, "warn"), link=f"{PAGE}#materialization")
    yield Fold(head, tuple(_came(same) for same in alike.values()), COPIES_SHOWN // 2)


def _came(same: list[Materialized]) -> Line:
    row, times = same[0], f" ×{len(same):,}" if len(same) > 1 else ""
    amounts = [each.materialized_bytes for each in same if not isinstance(each.materialized_bytes, Unknown)]
    spent = [each.ns for each in same if not isinstance(each.ns, Unknown)]
    return Line(
        size(sum(amounts)) if amounts else "?",
        (*place(row.site), Span(f"  {row.type_name}{times}"), Span(f"  {row.cause}", "dim")),
        text(duration(sum(spent)) if spent else "", "dim"),
    )


def _lines(crossings: tuple[Crossing, ...]) -> Iterator[Block]:
    busy = [line for line in crossings if line.calls + line.conversions > 1]
    busy = [line for line in busy if line.calls or not isinstance(line.site.line, Unknown)]
    if not busy:
        return
    rows = tuple(
        (
            place(line.site),
            text(f"{line.calls:,}"),
            text(f"{line.conversions:,}"),
            text(duration(line.call_ns)),
            text(duration(line.crossing_ns)),
        )
        for line in sorted(
            busy, key=lambda line: 0.0 if isinstance(line.call_ns, Unknown) else -float(line.call_ns)
        )
    )
    table = Table(("line", "calls", "conversions", "in native", "crossing"), rows, (1, 2, 3, 4))
    yield Fold(Line("lines", text(f"{len(crossings):,} crossed into native code")), (table,), 5)


def _tree(fact: Trace) -> Iterator[Block]:
    left_out = f", {fact.calls_left_out:,} kinds of calls not shown" if fact.calls_left_out else ""
    count = sum(call.times for call in fact.calls)
    head = Line("calls", text(f"{count:,} from Python{left_out}"), link=f"{PAGE}#the-tree")
    yield Fold(head, tuple(_node(call) for call in fact.calls), CALLS_SHOWN)


def _finalized(calls: tuple[Call, ...]) -> Iterator[Block]:
    """Finalizers that ran outside recorded calls."""
    if calls:
        count = sum(call.times for call in calls)
        head = Line(
            "finalizers", text(f"{count:,} ran"), link=f"{PAGE}#type-slots-destructors-and-finalizers"
        )
        yield Fold(head, tuple(_inner(call) for call in calls), CALLS_SHOWN)


def _node(call: Call) -> Block:
    """A call from Python: the label is its line, the name its source text."""
    return _branch(
        call, "".join(span.text for span in place(call.site)).removeprefix("cell "), call.site.text
    )


def _inner(call: Call) -> Block:
    """A nested call: it has the line of the outer call."""
    return _branch(call, "", "")


def _called(call: Call) -> str:
    return f"Python {call.name.rpartition('<locals>.')[2]}" if call.kind == "callback" else call.name


def _branch(call: Call, label: str, said: str) -> Block:
    converted = chain.from_iterable(map(_conversion, call.conversions))
    inner = (*converted, *_macros(call), *map(_inner, call.calls))
    times = f" ×{call.times:,}" if call.times > 1 else ""
    failed = f"  failed ×{call.failed:,}" if call.failed > 1 else "  failed" if call.failed else ""
    name = (
        Span(said, "python")
        if said
        else Span(_called(call), "python" if call.kind == "callback" else "native")
    )
    shown = ", ".join(map(_value, call.arguments))
    arguments = Span(f"  {shown}", "dim") if said else Span(f"({shown})")
    made = Span(f" → {_value(call.result)}" if isinstance(call.result, Value) else "", "dim")
    line = Line(
        label,
        (name, *unsaid(said, call.name), arguments, Span(times), made, Span(failed, "danger")),
        text(duration(call.ns), "dim"),
    )
    return Fold(line, inner, INNER_SHOWN) if inner else line


def _value(value: Value) -> str:
    name = "buffer" if isinstance(value.type_name, Unknown) else value.type_name.rpartition(".")[2]
    if value.text:
        return value.text
    if value.item_type:
        return f"{name} of {value.items:,} {value.item_type.rpartition('.')[2]}"
    if value.spans:
        return f"{name} {size(sum(span.logical_bytes for span in value.spans))}"
    return f"{name} of {value.items:,}" if value.items else name


def _conversion(ran: Conversion) -> Iterator[Line]:
    times = f" ×{ran.times:,}" if ran.times > 1 else ""
    values = f" → {', '.join(ran.values)}" if ran.values else ""
    owned = f"  {ran.result}" if ran.result in ("new", "borrowed", "stolen") else ""
    failed = f"  failed ×{ran.failed:,}" if ran.failed else ""
    yield Line(
        "",
        (
            Span(f"{ran.function}{f' {ran.format}' if ran.format else ''}{times}", "native"),
            Span(values),
            Span(owned, "dim"),
            Span(became(ran.copied_bytes, ran.shared_bytes, ran.made_bytes), "dim"),
            Span(failed, "danger"),
        ),
        text(duration(ran.ns), "dim"),
    )
    yield from _through(ran.frames)


def _through(frames: tuple[Place, ...]) -> Iterator[Line]:
    if frames:
        yield Line("", text(f"from   {came_through(frames)}", "dim"), link=f"{PAGE}#native-frames")


def _macros(call: Call) -> Iterator[Line]:
    if call.macro_reads:
        said = f"{call.macro_reads:,} elements read by macros, which no hook sees"
        yield Line("", text(said, "dim"), link=f"{PAGE}#what-cannot-be-seen")


def _unseen(fact: Trace) -> Iterator[Block]:
    if changed := sum(module.pointers_changed for module in fact.seen):
        said = f"{changed:,} changed by their library while hooked; left as they are"
        yield Line("pointers", text(said, "danger"), link=f"{PAGE}#pointers-that-dlsym-gave")
    rows = tuple(_seen(module) for module in fact.seen)
    if rows:
        hooked = sum(module.functions_hooked for module in fact.seen)
        head = Line(
            "seen",
            text(f"{hooked:,} functions hooked in {len(rows):,} module{'s' if len(rows) != 1 else ''}"),
            explain="Macros, and functions without a pointer to replace, are not seen.",
            link=f"{PAGE}#what-cannot-be-seen",
        )
        yield Fold(head, (Table(("module", "hooked", "C-API imports", "without a hook"), rows, (1, 2)),), 0)


def _seen(seen: Seen) -> tuple[tuple[Span, ...], ...]:
    share = f"{seen.imports_hooked:,} of {seen.imports:,}" if seen.imports else "-"
    if seen.pointers_hooked:
        share = f"{seen.pointers_hooked:,} by pointer" + (f", {share}" if seen.imports else "")
    left_out = {"left out: no trampoline": seen.functions_left_out} if seen.functions_left_out else {}
    unseen = seen.functions_unseen | left_out
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unseen.items()))
    return (text(seen.module), text(f"{seen.functions_hooked:,}"), text(share), text(kinds, "dim"))


def _footer(fact: Trace) -> Line:
    dropped = f"{fact.dropped:,} dropped: the oldest are missing" if fact.dropped else "0 dropped"
    return Line(
        "events",
        (
            Span(f"{fact.events:,} · "),
            Span(dropped, "warn" if fact.dropped else "fact"),
            Span(f"  {fact.grade}", "dim"),
            Span(_skipped(fact), "warn"),
        ),
    )


def _skipped(fact: Trace) -> str:
    return f"  a sample: {fact.calls_skipped:,} calls from Python left out" if fact.calls_skipped else ""
