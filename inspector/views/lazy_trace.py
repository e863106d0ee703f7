"""Draws the lazy vectors of an R program: one row a statement, the stack under what was materialized."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterator

from inspector.facts.amounts import counted, size
from inspector.facts.lazy_trace import LazyMade, LazyRead, LazyStatement, LazyTrace, LazyVector
from inspector.views.grammar import Block, Fold, Line, Span, text
from inspector.views.view import blocks

SHOWN, BESIDE = 18, 52

WORDS = {
    "compact_intseq": "compact", "compact_realseq": "compact",
    "deferred_string": "deferred", "mmap_real": "mapped file", "mmap_integer": "mapped file",
}  # fmt: skip


@blocks.register
def of_lazy_trace(fact: LazyTrace) -> tuple[Block, ...]:
    """A fold of the statements; where they are many, those that only read have one of their own."""
    head = Line(fact.script, text(_small(fact), "dim"))
    if not fact.statements:
        return (head,)
    rows = tuple(row for one in fact.statements for row in _statement(one))
    if len(rows) <= SHOWN:
        return (Fold(head, rows, SHOWN),)
    kept = tuple(row for one in fact.statements if one.made or one.materialized for row in _statement(one))
    reading = [one for one in fact.statements if not (one.made or one.materialized)]
    said = Line("", text(f"{counted(len(reading), 'statement')} that read and left lazy", "dim"))
    read = tuple(row for one in reading for row in _statement(one))
    return Fold(head, kept, SHOWN), *((Fold(said, read, 0),) if read else ())


def _small(fact: LazyTrace) -> str:
    left = f", {fact.left_out:,} found no room" if fact.left_out else ""
    return f"{counted(fact.small, 'small vector')} inside R not shown{left}" if fact.small or left else ""


def vector_words(one: LazyVector) -> str:
    """ "compact integer(1,000,000)", "vroom_dbl of vroom, double(3)"."""
    kind = WORDS.get(one.class_name) or f"{one.class_name} of {one.package},"
    return f"{kind} {one.type}" + ("" if one.length < 0 else f"({one.length:,})")


def _statement(one: LazyStatement) -> Iterator[Line]:
    label = f"{one.line}" if one.line else ""
    rows = tuple(_rows(one))
    first = "".join(span.text for span in rows[0].spans)
    if len(rows) == 1 and len(one.text) + len(first) <= BESIDE:
        yield Line(label, (Span(one.text, "code"), *rows[0].spans), rows[0].right)
        return
    yield Line(label, (Span(one.text, "code"),))
    yield from rows


def _rows(one: LazyStatement) -> Iterator[Line]:
    for made in one.materialized:
        yield from _materialized(made)
    done = [made.vector for made in one.materialized]
    for vector, times in Counter(one.made).items():
        if vector not in done:
            amount = f"0 of {size(vector.bytes)} made" if vector.bytes else ""
            count = f"{times:,} × " if times > 1 else ""
            yield Line("", (Span(f"  {_called(vector)}{count}{vector_words(vector)}"),), text(amount, "dim"))
    for read in one.read:
        yield Line("", (Span(f"  {_subject(read.vector)}: {_read(read)}", "dim"),))


def _called(one: LazyVector) -> str:
    return f"{one.name}: " if one.name else ""


def _subject(one: LazyVector) -> str:
    return one.name or f"a {vector_words(one)}"


def _read(one: LazyRead) -> str:
    """What was read; of deferred strings what R made and keeps of them."""
    if one.strings:
        made = f"{one.strings:,} of {one.vector.length:,} strings made"
        return f"{made}, and {size(one.vector.bytes)} of pointers to all"
    said = [counted(one.elements, "element") + " read"] if one.elements else []
    said += [counted(one.regions, "region") + " read"] if one.regions else []
    return ", ".join(said) + ": stays lazy"


def _materialized(made: LazyMade) -> Iterator[Line]:
    name = _subject(made.vector)
    took = size(made.vector.bytes) + (f"  {made.ns / 1e6:.1f} ms" if made.ns else "")
    by = f" by {made.by}" if made.by else ""
    write = " to write" if made.to_write else ""
    what = "COPIED as an ordinary vector" if made.copied else "MATERIALIZED"
    yield Line("", (Span(f"  {name} {what}{by}{write}", "warn"),), text(took))
    if made.functions:
        yield Line("", (Span(f"  {' → '.join(made.functions)}", "dim"),))
