"""The first sentences about a host's lines, and what to write instead: only advice that a test applies."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.facts.amounts import counted, size, with_article
from inspector.facts.answers import Answer
from inspector.facts.converted import Converted, HostLine, HostLines, ValueChange
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer

LINES = "trace.hosted.lines"
MANY = 1_000
"""Elements from which on it is worth a sentence that they cross one by one."""
LEAST_BYTES = 10_000
"""Bytes copied as a whole that are worth a sentence."""
WORDS = {"numeric": "doubles", "integer": "integers", "logical": "logicals", "character": "strings"}
SHARES = ("numeric", "integer", "complex")
"""Vectors whose arrays reticulate hands over without a copy."""


def host_answers(found: HostLines) -> Iterator[Answer]:
    """What crossed, what was lost, how long the start took."""
    if not found.language:
        return
    lost = [(line, change) for line in found.lines for one in line.conversions for change in one.changes]
    yield from _crossed(found)
    if lost:
        yield _lost(lost, found.language)
    if unseen := [one for line in found.lines for one in line.conversions if not one.compared]:
        text = f"{counted(sum(one.times for one in unseen), 'conversion')} could not be compared whole."
        yield answer("not-compared", text, LINES)
    if not isinstance(found.startup_ns, Unknown):
        text = (
            f"Start-up ({found.language}, packages, Python {found.python}): {found.startup_ns / 1e9:.1f} s."
        )
        yield answer("host-start", text, LINES)


def _crossed(found: HostLines) -> Iterator[Answer]:
    """The slowest loop; else the largest copy, and how much crossed."""
    slow = [(line, one) for line in found.lines for one in line.conversions if is_slow(one)]
    if slow:
        yield _one_by_one(slow)
        return
    copied = [
        (bytes_, line, one) for line in found.lines for one in line.conversions if (bytes_ := _copied(one))
    ]
    if copied:
        yield _largest(copied, found.language)
    times = sum(one.times for line in found.lines for one in line.conversions)
    text = f"{counted(times, 'conversion')} in {counted(len(found.lines), 'line')} of {found.language}."
    yield answer("host-crossed", text, LINES)


def _copied(one: Converted) -> int:
    """Bytes that were copied as a whole, where they are worth a sentence; else 0."""
    made = one.made_bytes if one.how == "one block" else 0
    return made if made >= LEAST_BYTES else 0


def _largest(copied: list[tuple[int, HostLine, Converted]], language: str) -> Answer:
    bytes_, line, one = max(copied, key=lambda each: each[0])
    to = "Python" if one.to_python else language
    given, became = (side.kind.rpartition(".")[2] for side in (one.given, one.became))
    rest = sum(each[0] for each in copied) - bytes_
    more = f" {len(copied) - 1} more copied {size(rest)}." if rest else ""
    what = f"{given} of {one.given.length:,} → {became}"
    as_ = f"{one.times} blocks, the largest" if one.times > 1 else "one block:"
    text = f"L{_place(line)[1:]} copied {size(bytes_)} to {to}, as {as_} {what}.{more}"
    return answer("host-copied", text, LINES, costs_bytes=bytes_)


def _one_by_one(slow: list[tuple[HostLine, Converted]]) -> Answer:
    line, one = max(slow, key=lambda each: each[1].ns)
    ours, theirs = (one.given, one.became) if one.to_python else (one.became, one.given)
    amounts = [size(side.bytes) for side in (one.given, one.became) if not isinstance(side.bytes, Unknown)]
    kind = with_article(theirs.kind.rpartition(".")[2])
    objects = f"{kind} of {theirs.length:,} {theirs.items or 'object'}s"
    vector = f"{ours.length:,} {WORDS.get(ours.kind.partition(' ')[0], 'elements')}"
    sides = f"{vector} became {objects}" if one.to_python else f"{objects} became {vector}"
    total = _took(sum(each.ns for _, each in slow))
    more = f" {len(slow)} lines do so: {total}." if len(slow) > 1 else ""
    calls = f"{one.calls:,} calls, " if one.calls else ""
    text = (
        f"L{_place(line)[1:]}: {sides}, {' → '.join(amounts)}, element by element, "
        f"{calls}{_took(one.ns)}.{more}"
    )
    return answer("host-one-by-one", text, LINES, costs_bytes=ours.length)


def _place(line: HostLine) -> str:
    """ "line 3"; "line 3 of lib.R" where the statement is in another file."""
    name, of_statement = (one.file.rpartition("/")[2] for one in (line.inside, line.statement))
    return f"line {line.inside.line}" if name == of_statement else f"line {line.inside.line} of {name}"


def _took(ns: int) -> str:
    return f"{ns / 1e9:.1f} s" if ns >= 1e8 else f"{ns / 1e6:.0f} ms" if ns >= 1e6 else f"{ns / 1e3:.0f} µs"


def is_slow(one: Converted) -> bool:
    """Whether many elements crossed one by one."""
    return one.how == "one by one" and max(one.given.length, one.became.length) >= MANY


def _lost(lost: list[tuple[HostLine, ValueChange]], language: str) -> Answer:
    lines = {(line.statement.line, line.inside.line) for line, _ in lost}
    line, change = lost[0]
    where = f" in `{change.where}`" if change.where else ""
    least = (
        f"{len(lost)} {'loss' if len(lost) == 1 else 'losses'} in {counted(len(lines), 'line')} of {language}"
    )
    text = f"{least}, the first in {_place(line)}{where}: {_said(change)}."
    return answer("host-lost", text, LINES)


def _said(change: ValueChange) -> str:
    return f"`{change.before}` → `{change.after}`"


def advice(found: HostLines) -> tuple[Answer, ...]:
    """What to write instead, by line."""
    rows = [
        answer("host-advice", text, LINES, do=_place(line))
        for line in found.lines
        for one in line.conversions
        for text in _better(line, one)
    ]
    return tuple(dict.fromkeys(rows))


def _better(line: HostLine, one: Converted) -> Iterator[str]:
    name = _argument(line)
    if is_slow(one) and one.to_python and one.given.kind in SHARES and one.became.kind == "list":
        better = f"r_to_py(array({name}))" if line.called == "r_to_py" else f"array({name})"
        amount = "bytes" if isinstance(one.given.bytes, Unknown) else size(one.given.bytes)
        yield f"`{better}`: Python shares that array's {amount}, no loop"
    for change in one.changes:
        if change.what == "NA" and one.given.kind in ("integer", "logical") and one.to_python:
            yield f"`as.numeric({_column(name, one)})`: NA crosses as NaN"
        elif change.what == "value" and line.called == "py_eval" and change.before.lstrip("-").isdigit():
            yield "`py_eval(..., convert = FALSE)` keeps Python's ints"
        elif change.what == "names" and one.to_python:
            yield f"`as.list({name})` crosses as a dict with the names"
        elif change.what == "items" and one.to_python:
            yield _all_items(name, one)
        elif _can_be_kept(change) and not (one.to_python and line.whole == "data.frame" and not one.name):
            yield _kept(line, one, change, _column(name, one))


def _column(name: str, one: Converted) -> str:
    """How the column of a data frame is written; the value itself where it is none."""
    if not one.name or not one.to_python:
        return name
    is_plain = re.fullmatch(r"[A-Za-z.][\w.]*", one.name)
    return f"{name}${one.name}" if is_plain else f'{name}[["{one.name}"]]'


def _all_items(name: str, one: Converted) -> str:
    """What keeps the items or columns whose name comes again."""
    if one.name:
        return f"`names({name}) <- make.unique(names({name}))` before: each column crosses"
    return f"`unname({name})` crosses as a list of all items"


def _can_be_kept(change: ValueChange) -> bool:
    """Whether it is the rows of a matrix, or a zone by a name that R knows."""
    is_known = not change.after.startswith(f"{change.before}, ")
    return change.what == "attributes" and change.before.startswith(("dim ", "time zone ")) and is_known


def _kept(line: HostLine, one: Converted, change: ValueChange, name: str) -> str:
    """What keeps the rows of a list's matrix, and a time zone."""
    zone = change.before.removeprefix("time zone ")
    other = re.sub(r"(?<=^UTC)[+-]", lambda sign: "-" if sign[0] == "+" else "+", zone)  # R reads it as POSIX
    if zone == change.before:
        return f"`lapply(seq_len(nrow({name})), function(i) {name}[i, ])` crosses as a list of rows"
    if one.to_python:
        pandas = 'import("pandas", convert = FALSE)'
        return f'`{pandas}$to_datetime({name}, utc = TRUE)$tz_convert("{other}")` keeps the zone'
    bound = re.match(r"([A-Za-z.][\w.$]*) *<-", line.inside.text)
    made = (bound[1] if bound else "x") + (f"${change.where}" if change.where else "")
    return f'`attr({made}, "tzone") <- "{other}"` afterwards: the instants are right'


def _argument(line: HostLine) -> str:
    """The name that was handed over, as it is written; "x" where it is no single name."""
    found = re.search(rf"\b{re.escape(line.called)}\(([\w.$]+)\)", line.inside.text) if line.called else None
    found = found or re.search(r"<- *([A-Za-z.][\w.$]*)$", line.inside.text)
    if len(calls := re.findall(r"\$\w+\(([^()]*)\)", line.inside.text)) == 1:  # np$mean(v)
        found = found or re.fullmatch(r"([A-Za-z.][\w.$]*)", calls[0])
    return found[1] if found else "x"
