"""The first sentences about a cell: what its names hold more, what only shows older bytes, what grew."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from inspector.facts.account import KINDS, Grown
from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer, Answers
from inspector.facts.contents import Contents
from inspector.facts.growth import Growth
from inspector.facts.heap import Difference, NameChange, NewHolder
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.growth import asked_for
from inspector.verdicts.answers.words import answer, code, listed

LEAST_BYTES: Final = 1_000
"""Names that hold less more are no news."""
LEAST_KEPT_BYTES: Final = 100_000
"""Less that an error keeps is not worth a sentence."""
LEAST_GROWN_BYTES: Final = 1_000_000
"""A process grows by less in any cell: allocators ask for memory in steps."""
MOST_NAMED: Final = 3
MOST_RUNS: Final = 3
NATIVE: Final = ("blocks", "mapped", "unexplained")
"""Kinds of memory in the account that Python objects are not known to hold."""
LEAST_NATIVE_BYTES: Final = 10_000_000
"""Watching takes memory too: less is no news."""
LEAST_SHARE: Final = 0.1
"""Of what grew: a row of the account below it is not told."""
GROWN: Final = {
    "objects": "more in Python objects{1}",
    "buffers": "more in live arrays and buffers{1}",
    "blocks": "more in blocks of C code, which no Python object is known to hold",
    "mapped": "more that {0} mapped, which no Python object is known to hold",
    "heap": "more in its heap, live and free blocks",
    "free": "more free memory that {0} keeps",
    "unexplained": "more that nothing explains",
}
GROWN_OUTSIDE: Final = GROWN | {
    "unexplained": "more anonymous memory of no allocator that can be told from outside"
}
"""The same of another process."""


def with_answers(fact: Difference, growth: Growth, kept: Contents | None = None) -> dict[str, Any]:
    """The columns of a cell's report; `kept`: by the error that ended the cell."""
    told = Answers(tuple(answers(fact, growth, kept)))
    return {"answers": told, "difference": fact} | ({"growth": growth} if growth.sources else {})


def answers(fact: Difference, growth: Growth | None = None, kept: Contents | None = None) -> Iterator[Answer]:
    """What the cell left, most bytes first; and who asked for it, where most of that no name holds."""
    more, by_error = _named(fact), kept.bytes if kept is not None else 0
    if kept is not None and by_error >= LEAST_KEPT_BYTES:
        yield _by_error(kept)
    beside = fact.resident_bytes - max(more, 0) - by_error if isinstance(fact.resident_bytes, int) else 0
    is_told = growth and sum(row.bytes for row in growth.sources) - max(more, 0) >= beside / 2
    asked = tuple(asked_for(growth)) if growth and is_told else ()
    free = sum(row.bytes for row in fact.grew if row.kind == "free")  # the next statements use it
    is_first = beside - free >= max(LEAST_GROWN_BYTES, more)
    if is_first:
        yield _beside(beside, fact, more)
        yield from asked
    views = [row for row in fact.names if row.of]
    gone = [row for row in fact.names if row.change == "gone"]
    if views and more < LEAST_KEPT_BYTES:
        yield _shown(views)
    if more >= LEAST_BYTES or not (views or gone or by_error >= LEAST_KEPT_BYTES):
        yield _left(fact, more)
    if views and more >= LEAST_KEPT_BYTES:
        yield _shown(views)
    if gone:
        yield _gone(gone, fact.bytes - more)
    if beside >= LEAST_GROWN_BYTES and not is_first:
        yield _beside(beside, fact, more)
        yield from asked
    if growth and not asked and more >= LEAST_NATIVE_BYTES and _is_gathered(fact):
        yield from asked_for(growth)


def _by_error(kept: Contents) -> Answer:
    """Variables of functions that the error's traceback keeps."""
    most = kept.items[0] if kept.items else None
    variable, _, function = most.key.partition(" of ") if most is not None else ("", "", "")
    of = f", most of it {code(variable)}, a local of {code(function)}" if function else ""
    least = "" if kept.complete else "more than "
    text = f"The error's traceback keeps {least}{size(kept.bytes)}{of}, until the next error."
    return answer("error-keeps", text, "difference.types", costs_bytes=kept.bytes)


def _named(fact: Difference) -> int:
    """Bytes that names hold more, each once: two names may hold one array. What is gone is told beside."""
    more = sum(map(_more, fact.names))
    if isinstance(fact.named_bytes, Unknown):
        return more
    gone = (row.bytes for row in fact.names if row.change == "gone" and isinstance(row.bytes, int))
    return min(more, fact.named_bytes + sum(gone))


def _is_gathered(fact: Difference) -> bool:
    """Whether what names hold more came bit by bit, or to several: then its lines are news."""
    most = [row for row in fact.names if _more(row) >= LEAST_GROWN_BYTES]
    return len(most) > 1 or any(row.change == "kept" for row in most)


def _more(row: NameChange) -> int:
    """Bytes of its own that a name holds more than before."""
    return row.bytes if row.change != "gone" and not row.of and isinstance(row.bytes, int) else 0


def _covered(fact: Difference) -> str:
    """What a sentence without a name leaves out."""
    return f"modules and code not counted{'' if fact.complete else ', nor what lies too deep'}"


def _names(fact: Difference) -> Nothing:
    """What was looked at before no name is said to hold more."""
    return Nothing("your names and what they hold", _covered(fact))


def _left(fact: Difference, more: int) -> Answer:
    if more < LEAST_BYTES:
        return _left_unnamed(fact)
    trivial = min(more // 100, LEAST_BYTES)
    rows = sorted((row for row in fact.names if _more(row) > trivial), key=_more, reverse=True)
    each = (f"{code(row.name)} {size(_more(row))}" for row in rows)
    once = ", each byte once" if size(more) != size(sum(map(_more, rows))) else ""
    text = f"Names hold {size(more)} more{once}: {listed(each, MOST_NAMED)}." if rows else ""
    if len(rows) == 1:
        text = f"{code(rows[0].name)} holds {size(more)} more."
    if not rows:
        small = [row for row in fact.names if _more(row) > 0]
        text = f"{counted(len(small), 'name')} hold {size(more)} more, each at most {size(trivial)}."
    about = tuple(row.name for row in rows)
    return answer("names-hold-more", text, "difference.names", about=about, costs_bytes=more)


def _left_unnamed(fact: Difference) -> Answer:
    """No name holds much more: objects that are alive all the same."""
    less = f"no name holds {size(LEAST_BYTES)} more ({_covered(fact)})"
    most = next((row for row in fact.types if row.bytes >= fact.bytes / 2), None)
    if fact.bytes < LEAST_BYTES or most is None:
        said = f"{less[0].upper()}{less[1:]}."
        return answer("names-hold-no-more", said, "difference.names", nothing=_names(fact))
    text = f"{most.objects:,} more {code(most.type_name)}, {size(most.bytes)}, are alive: {less}."
    return answer(
        "alive-beside-names", text, "difference.types", costs_bytes=most.bytes, nothing=_names(fact)
    )


def _shown(rows: Sequence[NameChange]) -> Answer:
    said = listed((f"{code(row.name)} shows bytes of {code(row.of)}" for row in rows), MOST_NAMED)
    about = tuple(row.name for row in rows)
    return answer("shows-older", f"{said}, which were there before.", "difference.names", about=about)


def _gone(rows: Sequence[NameChange], change: int) -> Answer:
    """Names that went; how much smaller the heap is, if they could be why."""
    held = sum(row.bytes for row in rows if isinstance(row.bytes, int))
    less = f"; the heap is {size(-change)} smaller" if 0 < held <= -change else ""
    names = listed((code(row.name) for row in rows), MOST_NAMED)
    text = f"{names} {'is' if len(rows) == 1 else 'are'} gone{less}."
    return answer("names-gone", text, "difference.names", about=tuple(row.name for row in rows))


def _beside(bytes_: int, fact: Difference, named: int) -> Answer:
    text = f"The process grew by {size(bytes_)} that no name holds"
    grew = list(_without(fact.grew, named))
    if rows := [row for row in grew if row.bytes >= LEAST_SHARE * bytes_][:MOST_NAMED]:
        less = sum(row.bytes for row in grew) - bytes_
        elsewhere = (
            f", and {size(less)} less elsewhere"
            if less >= max(LEAST_GROWN_BYTES, LEAST_SHARE * bytes_)
            else ""
        )
        text += f": {listed(map(_where, rows))}{elsewhere}{_held_by(fact.holder)}."
    else:
        text += f" ({_covered(fact)}); `%inspect` says what is kept beyond names."
    return answer(
        "grew-beside-names",
        text,
        "difference.resident_bytes",
        "difference.grew",
        costs_bytes=bytes_,
        nothing=_names(fact),
    )


def _held_by(found: NewHolder) -> str:
    if not found.name or 2 * found.held <= found.looked_at:
        return ""
    return f"; {found.held} of {found.looked_at} new objects looked at are held by {code(found.name)}"


def unnamed_objects(fact: Difference) -> int:
    """Bytes of Python objects and buffers that grew and that no name holds, if they are most of that."""
    named = max(sum(map(_more, fact.names)), 0)
    rows = list(_without(fact.grew, named))
    objects = sum(row.bytes for row in rows if row.kind in ("buffers", "objects"))
    return objects if 2 * objects >= sum(row.bytes for row in rows) else 0


def _without(rows: Sequence[Grown], named: int) -> Iterator[Grown]:
    """The rows without what names hold, which is memory of buffers and of Python objects."""
    for row in sorted(rows, key=lambda row: row.kind != "buffers"):
        less = min(named, row.bytes) if row.kind in ("buffers", "objects") else 0
        named -= less
        if row.bytes > less:
            yield replace(row, bytes=row.bytes - less)


def native_growth(rows: Sequence[Grown], runs: int) -> Iterator[Answer]:
    """Memory that code left and no Python object is known to hold, from rows of the account that grew."""
    rows = [row for row in rows if row.kind in NATIVE]
    total = sum(row.bytes for row in rows)
    if total < LEAST_NATIVE_BYTES:
        return
    each = f", {size(total // runs)} a run" if runs > 1 else ""
    text = f"Native memory grew by {size(total)}{each}: {grown_most(rows)}."
    yield answer("native-memory-grew", text, "difference.grew", certain=False, costs_bytes=total)


def growth_of_program(libraries: Sequence[str]) -> Answer:
    """What a program's native growth counts besides, and who tells the line: while references are counted,
    allocations are not sampled.
    """
    text = "Around the calls, `with inspector.growth() as grew:` says which lines asked for it."
    if libraries:
        text = f"That counts what importing {listed(map(code, libraries), MOST_NAMED)} took. {text}"
    return answer("growth-of-program", text, "difference.grew")


def watched_growth(growth: Growth, pid: int, words: Mapping[str, str]) -> Answer:
    """Whether a watched process grew, how fast, and what most of that is, in `words` for each row."""
    change, seconds = growth.resident_bytes, growth.watched_ns / 1e9
    text = f"Process {pid} did not grow in {seconds:,.1f} s."
    if change > 0:
        pace, beyond = size(round(change * 60 / seconds)), sum(row.bytes for row in growth.rows) - change
        most = f": {grown_most(growth.rows, words)}" if beyond <= change else ""  # else most of it went again
        text = f"Process {pid} grew by {size(change)} in {seconds:,.1f} s, {pace} a minute{most}."
    return answer("process-grew", text, "growth.resident_bytes", "growth.rows", costs_bytes=max(change, 0))


def cell_added(growth: Growth, label: str, earlier: Sequence[int]) -> Answer:
    """What a cell added, and what its runs before did: a cache fills once, a leak grows with each."""
    before = [size(change) for change in earlier if change >= LEAST_GROWN_BYTES][-MOST_RUNS:]
    again = f"; its runs before added {listed(before)}" if before else ""
    most = f": {grown_most(growth.rows)}" if growth.rows else ""
    text = f"{code(label)} added {size(growth.resident_bytes)}{most}{again}."
    return answer("cell-added", text, "growth.rows", costs_bytes=growth.resident_bytes)


def grown_most(rows: Sequence[Grown], words: Mapping[str, str] = GROWN) -> str:
    """What the rows that grew most are, with their bytes."""
    total = sum(row.bytes for row in rows)
    shown = [row for row in rows if row.bytes >= LEAST_SHARE * total][:MOST_NAMED]
    return listed(_where(row, words) for row in shown)


def _where(row: Grown, words: Mapping[str, str] = GROWN) -> str:
    """What a row of the account that grew is, with its bytes."""
    name = code(row.name) if row.name else ""
    said = words.get(row.kind, f"more in {KINDS[row.kind]}").format(
        name or "others", f" ({name})" if name else ""
    )
    return f"{size(row.bytes)} {said}"
