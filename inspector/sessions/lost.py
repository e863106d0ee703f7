"""The verb `lost`: objects that are alive, that no root reaches, and that no garbage collection frees."""

# SPDX-License-Identifier: MIT
from dataclasses import replace

from inspector.facts.answers import Answers
from inspector.facts.lost import CYCLES, Lost, LostObject
from inspector.report import Report


def lost() -> Lost:
    """Return the objects of this process that nothing can reach and no garbage collection frees, and why.

    Cycles through a type without tp_traverse (the type and its field are told), cycles through an array of
    objects, and counts that are too high with no holder. Nothing is collected or changed; all memory is
    searched, a second for 2 GB. An object that any word in memory may still refer to is not told.
    Example: `inspector.lost().bytes`.
    """
    from inspector.ledger.lost import lost
    from inspector.verdicts.answers.lost import with_answers

    return with_answers(lost())


def lost_since(before: Lost | None = None) -> tuple[LostObject, ...]:
    """What is lost in cycles that no collection frees, less what was before.

    References that C code lost are the ledger's verdicts.
    """
    from inspector.ledger.lost import lost

    old = {_key(row): row for row in before.rows} if before is not None else {}
    rows = [_since(row, old.get(_key(row))) for row in lost().rows if row.cause in CYCLES]
    return tuple(row for row in rows if row.objects > 0)


def with_lost(report: Report, rows: tuple[LostObject, ...]) -> Report:
    """The report of leaks; above its verdicts what is lost in cycles."""
    from inspector.verdicts.answers.lost import said

    if not rows:
        return report
    answers = report.facts.get("answers", Answers(()))
    rest = (one for one in answers.rows if one.slug != "no-fault")
    return Report(report.name, {**report.facts, "answers": Answers((*said(rows), *rest))})


def _key(row: LostObject) -> tuple[str, str, str, str]:
    return row.type_name, row.cause, row.holder, row.where


def _since(row: LostObject, old: LostObject | None) -> LostObject:
    if old is None:
        return row
    return replace(
        row,
        objects=row.objects - old.objects,
        kept_objects=row.kept_objects - old.kept_objects,
        kept_bytes=row.kept_bytes - old.kept_bytes,
    )
