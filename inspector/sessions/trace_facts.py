"""The facts of a finished trace: the whole of it, and its statements."""

# SPDX-License-Identifier: MIT
from inspector.facts.conversion import Trace
from inspector.facts.statements import Statements
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.query import Query
from inspector.tracing.events.decode import Events

NOT_COMPARED = Unknown("values were not compared: copies were left out")


def whole(events: Events, query: Query, copies_wanted: bool) -> Trace:
    """All that was recorded, as one fact."""
    from inspector.verdicts.copies import copies
    from inspector.verdicts.losses import losses

    return Trace(
        calls=query.calls(),
        calls_left_out=query.groups - query.shown,
        copies=copies(query.evidence()) if copies_wanted else (),
        losses=losses(query.losses()) if copies_wanted else NOT_COMPARED,
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
    from inspector.verdicts.statements import statements as concluded

    rows = concluded(events.written, events.bound, query.evidence(), fact.losses, fact.crossings)
    return Statements(rows, events.values_seen)
