"""Draws the bytes of an object: how many, in which mapping, their owner, the protocols that expose them."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted
from inspector.facts.buffer import Buffer, Exposure, Holder
from inspector.facts.memory import Mapping, Range
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size, total
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.view import blocks

_SPOKEN = 4
"""Protocol answers shown before the rest is folded; a table has one for each buffer of each column."""


@blocks.register
def buffer(fact: Buffer) -> tuple[Block, ...]:
    """Lines: bytes and mapping, owner, exports, protocols, facts under the library's own names."""
    return (_bytes(fact), *_owner(fact), *_exports(fact), *_speaks(fact), *_names(fact))


def _bytes(fact: Buffer) -> Line:
    value = fact.logical_bytes
    if isinstance(value, Unknown):
        return Line("bytes", text(str(value), "dim"))
    return Line(
        "bytes",
        (Span(size(value)), Span("".join(f"  {word}" for word in _evidence(fact)), "dim")),
        right=text(_place(fact.mapping, fact.range), "dim"),
        explain="Bytes of all elements, and the mapping of this process they lie in.",
        link="docs/glossary.md#bytes",
    )


def _evidence(fact: Buffer) -> Iterator[str]:
    """Anything unusual about the bytes: a larger extent, their place in the owner's block, read-only."""
    if isinstance(fact.range, Unknown):
        yield fact.range.reason
        return
    if fact.range.bytes != fact.logical_bytes:
        yield f"in {size(fact.range.bytes)} of memory"
    root = owner(fact)
    if root is not None and not isinstance(root.range, Unknown) and root.range.bytes > fact.range.bytes:
        offset = size(fact.range.start - root.range.start)
        yield f"inside {root.name} ({size(root.range.bytes)}), at +{offset}"
    if fact.readonly is True:
        yield "read-only"


def _place(mapping: Mapping | Unknown, range_: Range | Unknown) -> str:
    """The mapping in brackets: "[heap]", "[file prices.bin +4096]"."""
    if isinstance(mapping, Unknown) or isinstance(range_, Unknown) or not range_.bytes:
        return ""
    huge = ", huge pages" if mapping.huge_pages is True else ""
    if isinstance(mapping.file, Unknown):
        return f"[{mapping.kind}{huge}]"
    return f"[{mapping.kind} {mapping.file.rpartition('/')[2]} +{mapping.file_offset_bytes}{huge}]"


def owner(fact: Buffer) -> Holder | None:
    """The holder that frees the bytes; else the last known holder; None if there are no holders."""
    owning = [holder for holder in fact.holders if holder.owns is True]
    return owning[0] if owning else fact.holders[-1] if fact.holders else None


def _owner(fact: Buffer) -> Iterator[Line]:
    """The owner of a view's bytes and the objects between; for several blocks the number of owners."""
    root = owner(fact)
    if root is None:
        return
    owning = [holder for holder in fact.holders if holder.owns is True]
    if len(owning) > 1:
        kept = total(holder.bytes for holder in owning)
        kinds = " and ".join(dict.fromkeys(holder.type_name for holder in owning))
        yield Line("owner", (Span(f"{len(owning)} {kinds}", "name"), Span(f"  {kept} in all", "dim")))
        return
    between = [holder.type_name for holder in fact.holders[: fact.holders.index(root)]]
    through = f", through {' and '.join(between)}" if between else ""
    yield Line(
        "owner",
        (Span(root.name, "name"), Span(f"  {', '.join(_about(root))}{through}", "dim")),
        explain="A view keeps its base alive; the owner is the object that frees the bytes.",
        link="docs/glossary.md#view",
    )


def _about(holder: Holder) -> Iterator[str]:
    if holder.name != holder.type_name:
        yield holder.type_name
    if not isinstance(holder.bytes, Unknown):
        yield size(holder.bytes)
    yield (
        "owns its memory"
        if holder.owns is True
        else "does not own it"
        if holder.owns is False
        else str(holder.owns)
    )
    if not isinstance(holder.references, Unknown):
        yield counted(holder.references, "reference")


def _exports(fact: Buffer) -> Iterator[Line]:
    """Whether the next write copies, and whether exports block a resize."""
    for name, value in fact.facts:
        if name == "copy-on-write" and not value.startswith("1 holder"):
            yield Line("writes", (Span(value), Span("  copy-on-write", "dim")))
    if not isinstance(fact.exports, Unknown) and fact.exports:
        yield Line(
            "exports",
            (Span(f"{fact.exports:,}"), Span("  buffers that consumers hold: it cannot be resized", "dim")),
        )


def _speaks(fact: Buffer) -> Iterator[Block]:
    """One line for the protocols that were not called, and one for each answer."""
    unasked = [spoken.protocol for spoken in fact.spoken if spoken.exposure == Unknown("not asked")]
    if unasked:
        yield Line(
            "speaks",
            text("  ".join(unasked)),
            right=text("not asked", "dim"),
            explain="Protocols found on the type without calling them. --ask calls them.",
            link="docs/glossary.md#exporter",
        )
    rows = tuple(_answered(fact, unasked))
    yield from rows[:_SPOKEN]
    if rest := rows[_SPOKEN:]:
        more = Line("speaks", (Span(f"{len(rest):,} more"), Span("  a block each", "dim")))
        yield Fold(more, rest, shown=0)


def _answered(fact: Buffer, unasked: list[str]) -> Iterator[Block]:
    """A line for each answer; the address of its bytes is drawn only with `-v`."""
    for spoken in fact.spoken:
        if isinstance(one := spoken.exposure, Exposure):
            if spoken.protocol != "struct fields":
                answer = Span(f"  {_answer(one, fact)}", "dim")
                where = f"at {one.address:#x}, strides {one.strides_bytes} bytes, by {one.exporter}"
                below = (Line("", text(where, "dim"), verbose=True),)
                yield Fold(Line("speaks", (Span(spoken.protocol), answer)), below, shown=1)
        elif spoken.protocol not in unasked:
            yield Line("speaks", (Span(spoken.protocol), Span(f"  {spoken.exposure}", "warn")))


def _answer(exposure: Exposure, fact: Buffer) -> str:
    """An answer in short: format, shape, access, and whether its bytes are not the object's own."""
    elsewhere = ""
    if not isinstance(fact.range, Unknown) and exposure.range != fact.range:
        elsewhere = ", other bytes than the object's"
    flags = f", {' '.join(exposure.flags)}" if exposure.flags else ""
    access = "read-only" if exposure.readonly else "writable"
    return f"{exposure.format} {exposure.shape}, {access}{flags}{elsewhere}"


def _names(fact: Buffer) -> Iterator[Block]:
    if fact.facts:
        rows = tuple((text(name), text(value, "dim")) for name, value in fact.facts)
        head = Line("library", (Span(str(len(rows))), Span("  facts under the library's own names", "dim")))
        yield Fold(head, (Table(("", ""), rows),), shown=0)
