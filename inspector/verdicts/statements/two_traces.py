"""The statements of two traces beside each other: what one copies and the other does not."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.nothing import Nothing
from inspector.facts.statements import Statement, Statements
from inspector.facts.trace_difference import LineChange, TraceDifference
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer


@dataclass(frozen=True, slots=True)
class _Line:
    file: str
    line: int
    text: str
    target: str
    verdict: str
    copied: int


NOWHERE = _Line("", 0, "", "", "", 0)


def with_lines(told: TraceDifference, before: Statements, after: Statements) -> TraceDifference:
    """The difference with its lines.

    The same text in a file of the same name is one line, wherever it stands; of what is left, statements that
    bind the same name belong together. Where no line is known, the copies are those of all calls.
    """
    old, new = _lines(before), _lines(after)
    if not (old or new):
        copied = told.copied_bytes_before, told.copied_bytes_after
        return replace(told, lines_copied_before=copied[0], lines_copied_after=copied[1])
    pairs = [(old.get(key, NOWHERE), new.get(key, NOWHERE)) for key in {**old, **new}]
    changes = [_change(*pair) for pair in _paired(pairs) if _differs(*pair)]
    return replace(
        told,
        lines=tuple(sorted(changes, key=_weight)),
        lines_copied_before=sum(one.copied for one in old.values()),
        lines_copied_after=sum(one.copied for one in new.values()),
    )


def answers(told: TraceDifference) -> Iterator[Answer]:
    """Whether the later trace copies less."""
    before, after = told.lines_copied_before, told.lines_copied_after
    word = "less" if after < before else "more"
    told_by = f"{size(abs(before - after))} {word} than" if before != after else "as much as"
    slug = f"copies-{word}" if before != after else "copies-same"
    text = f"{size(after)} copied, {told_by} before."
    if after:
        yield answer(slug, text, "trace_difference.lines")
        return
    found = Nothing(counted(told.events_after, "record"), "what no call was recorded for")
    earlier = f"{size(before)} were copied" if before else f"none in {told.events_before:,}"
    none = f"No copy was seen in {found.covered}; before, {earlier}."
    yield answer(slug, none, "trace_difference.lines", certain=found.is_closed, nothing=found)


def _lines(found: Statements) -> dict[tuple[str, str, int], _Line]:
    """(file name, text, how many such lines stand above) -> the statement."""
    rows: dict[tuple[str, int], list[Statement]] = {}
    for row in found.rows:
        if not isinstance(row.site.line, Unknown):
            rows.setdefault((str(row.site.file), row.site.line), []).append(row)
    is_one = len({file for file, _ in rows}) == 1
    above: Counter[tuple[str, str]] = Counter()
    lines = {}
    for (file, _), some in rows.items():
        name = "" if is_one else PurePath(file).name
        key = (name, some[0].site.text)
        lines[(*key, above[key])] = _line(file, some)
        above[key] += 1
    return lines


def _line(file: str, rows: Sequence[Statement]) -> _Line:
    most = max(rows, key=lambda row: row.copied_bytes)
    inside = sum(one.bytes for row in rows for one in row.inside)
    copied = sum(row.copied_bytes for row in rows) + inside
    number = 0 if isinstance(most.site.line, Unknown) else most.site.line
    return _Line(file, number, most.site.text, rows[0].target, most.verdict, copied)


def _paired(pairs: list[tuple[_Line, _Line]]) -> Iterator[tuple[_Line, _Line]]:
    """Statements that are gone beside new ones that bind the same name."""
    added = [new for old, new in pairs if old is NOWHERE]
    for old, new in pairs:
        if new is NOWHERE and old.target:
            new = next((one for one in added if one.target == old.target), NOWHERE)
            added = [one for one in added if one is not new]
            yield old, new
        elif old is not NOWHERE:
            yield old, new
    yield from ((NOWHERE, one) for one in added)


def _differs(old: _Line, new: _Line) -> bool:
    is_told = bool(old.copied or new.copied or {old.verdict, new.verdict} & {"copied", "unknown"})
    return (old.verdict, old.copied) != (new.verdict, new.copied) and is_told


def _change(old: _Line, new: _Line) -> LineChange:
    at = old if new is NOWHERE else new
    texts, verdicts = (old.text, new.text), (old.verdict, new.verdict)
    return LineChange(at.file, at.line, *texts, *verdicts, old.copied, new.copied)


def _weight(row: LineChange) -> tuple[int, int]:
    return -abs(row.copied_bytes_after - row.copied_bytes_before), row.line
