"""The facts of a finished trace: the whole of it, and its statements."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.facts.answers import Answers
from inspector.facts.conversion import Loss, Trace
from inspector.facts.statements import Bound, Statements
from inspector.facts.unknown import Unknown

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.sessions.statements.watch import StatementWatch
    from inspector.tracing.ask.query import Query
    from inspector.tracing.events.decode import Events
    from inspector.tracing.record.recorder import Recorder

NOT_COMPARED = Unknown("values were not compared: copies were left out")


def whole(events: Events, query: Query, copies_wanted: bool) -> Trace:
    """All that was recorded, as one fact."""
    from inspector.verdicts.copies import copies
    from inspector.verdicts.losses import losses
    from inspector.verdicts.statements.operators import said_by

    return Trace(
        calls=query.calls(),
        calls_left_out=query.groups - query.shown,
        copies=copies(query.evidence(), said_by(events.operators)) if copies_wanted else (),
        losses=losses(query.losses(), events.lost, (events.given, events.bound))
        if copies_wanted
        else NOT_COMPARED,
        crossings=query.crossings(),
        seen=events.seen,
        events=len(events),
        dropped=events.dropped,
        wall_ns=events.wall_ns,
        grade=events.grade,
        materialized=events.materialized,
        hosted=query.hosted(),
        finalized=query.finalized(),
        released=query.released(),
        calls_skipped=events.skipped,
        counted=events.counted,
    )


def statements(events: Events, query: Query, fact: Trace) -> Statements:
    """What each statement of the user's code did."""
    from inspector.verdicts.statements.rows import statements as concluded

    rows = concluded(
        events.written, events.bound, query.evidence(), fact.losses, fact.crossings, fact.materialized,
        events.operators, events.values_seen,
    )  # fmt: skip
    return Statements(rows, events.values_seen)


def finished(recorder: Recorder, watch: StatementWatch | None, of_graphs: tuple[Loss, ...] = ()) -> Events:
    """End the recording; its events, with the statements that they and the values seen belong to."""
    from inspector import _native

    bound: tuple[Bound, ...] = _native.unrecorded(watch.end) if watch is not None else ()
    events = recorder.stop()
    from inspector.tracing.events.source import written_of

    if watch is None:
        return replace(events, written=written_of(events))
    lost, given = (*watch.losses(), *of_graphs), watch.given()
    written = written_of(events, (*bound, *(one.site for one in lost)), watch.sources)
    return replace(events, bound=bound, lost=lost, given=given, values_seen=watch.seen, written=written)


def between(earlier: tuple[Trace, Statements], later: tuple[Trace, Statements]) -> dict[str, Any]:
    """What a later trace did otherwise: in a sentence, by line, by call."""
    from inspector.verdicts.statements.two_traces import answers, with_lines
    from inspector.verdicts.traces import difference

    told = with_lines(difference(earlier[0], later[0]), earlier[1], later[1])
    return {"answers": Answers(tuple(answers(told))), "trace_difference": told}


def left_in(folder: Path, pid: int, grade: str) -> Events:
    """The events that a process left in a folder; values of its names were not looked at."""
    from inspector.tracing.events.source import written_of
    from inspector.tracing.record import folder as traces
    from inspector.tracing.record import host_lines

    events = traces.read(folder, pid, grade)
    return replace(events, written=written_of(events), host_lines=host_lines.read(folder, pid))
