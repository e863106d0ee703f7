"""The short card: the answers, the rows that prove them, and a fold with everything else."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from inspector.facts.amounts import counted, size
from inspector.facts.buffer import Buffer, Exposure
from inspector.facts.layout import Layout
from inspector.facts.materialization import Materialization, Residency
from inspector.facts.memory import Range
from inspector.facts.parts import Part, Parts
from inspector.facts.refs import Owner, Refs, Scan
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.views.answers import rows as answered
from inspector.views.contents import largest
from inspector.views.grammar import Block, Fold, Line, Span, Table, text
from inspector.views.refs import holders
from inspector.views.shown_part import shown_part
from inspector.views.view import view

OWN = ("answers", "object", "refs", "buffer", "layout", "parts", "contents", "materialization")
"""Columns that the short card draws in its own way; all others are drawn as everywhere."""
MOST_NAMES = 3
MOST_COLUMNS = 6
MOST_VALUE_CELLS = 58
ONLY_ASKED = ("__array_interface__", "__array_struct__", "DLPack", "Arrow C data", "Arrow C stream")
"""Protocols that answer only where --ask called them."""
CONSTANTS = ("NoneType", "bool", "ellipsis", "NotImplementedType")
"""Types of objects that everybody holds."""
_KINDS = ("global", "local", "item", "attribute", "slot", "cell")
"""Kinds of owners, those with the shortest names first."""
OPAQUE = "opaque: no adapter knows"
FAILED = "the probe failed"


def brief(facts: Mapping[str, Any], drawn: Callable[[str, Any], Iterable[Block]]) -> Iterator[Block]:
    """The rows of the short card under its head. `drawn`: the blocks of a column as everywhere."""
    known = {column: fact for column, fact in facts.items() if not isinstance(fact, Unknown)}
    yield from _held(known.get("refs"), known.get("object"))
    yield from _memory(known)
    if "parts" not in known:
        yield from _layout(known.get("layout"))
    yield from _columns(known.get("parts"))
    yield from largest(known["contents"]) if "contents" in known else ()
    yield from _asked(known.get("buffer"))
    yield from answered(known["answers"])
    if not getattr(known.get("buffer"), "shared_with", ""):
        yield from _state(known.get("materialization"))
    for column, fact in facts.items():
        if isinstance(fact, Unknown):
            if fact.reason.startswith(FAILED):
                yield Line(column, text(str(fact), "warn"))
        elif column not in OWN:
            yield from _closed(column, drawn(column, fact))


def _closed(column: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks of another column; a type's tables are closed, and only `-v` draws its flags."""
    for block in blocks:
        if column in ("type", "module", "builtin"):
            if isinstance(block, Fold):
                yield replace(block, shown=0)
            elif not isinstance(block, Line) or block.label not in ("flags", "instance", "state"):
                yield block
        else:
            yield block


def _held(refs: Refs | None, found: Any) -> Iterator[Block]:
    """Who holds the object: names that a user can type; what is not named yet, and what would name it."""
    if refs is None or isinstance(refs.references, ImmortalType):
        return
    if getattr(found, "type_name", "") in CONSTANTS and not isinstance(refs.owners.scan, Scan):
        return
    if isinstance(refs.owners.scan, Scan):
        yield from holders(refs.owners, refs.owners.scan)
        return
    certain = sorted((owner for owner in refs.owners if owner.certain), key=_rank)
    short = list(dict.fromkeys(one.short for one in certain))
    more = f" and {len(short) - MOST_NAMES:,} more" if len(short) > MOST_NAMES else ""
    named = [span for name in short[:MOST_NAMES] for span in (Span(", "), Span(name, "code"))][1:]
    if not refs.references:
        return
    value = (*named, Span(more)) if named else text(counted(refs.references, "reference"))
    yield Line(
        "held by",
        value,
        text(
            refs.owners.why_unsearchable or _found(refs.references, refs.owners.unnamed, bool(named)), "dim"
        ),
        explain="Who holds references to the object. Without the references of this tool.",
        link="docs/reference/owners.md#the-count",
    )


def _rank(owner: Owner) -> int:
    return _KINDS.index(owner.kind) if owner.kind in _KINDS else len(_KINDS)


def _found(references: int, unnamed: int | Unknown, named: bool) -> str:
    if isinstance(unnamed, Unknown):
        return f"{counted(references, 'reference')}, not known whether all: --owners"
    if not unnamed:
        return f"{counted(references, 'reference')}, all found"
    return f"{unnamed:,} of {references:,} not found yet: --owners" if named else "--owners names them"


def _memory(facts: Mapping[str, Any]) -> Iterator[Block]:
    """Bytes, whose they are, and how much of them is in memory; a picture of a part of a larger block."""
    buffer, found = facts.get("buffer"), facts.get("object")
    if buffer is None or isinstance(buffer.logical_bytes, Unknown):
        weighed = {"contents", "model", "type", "module", "builtin"} & facts.keys()
        if found is not None and not weighed and not isinstance(found.size_bytes, Unknown):
            yield _of_its_own(found.size_bytes, found.gc_tracked is not True, facts.get("materialization"))
        return
    picture = shown_part(buffer, facts.get("layout"))
    value = size(buffer.logical_bytes)
    yield Line(
        "memory",
        (Span(value), *_whose(buffer)),
        text(_in_ram(facts, buffer), "dim"),
        explain="Bytes of all elements, and the block of memory they lie in.",
        link="docs/glossary.md#bytes",
    )
    if picture is not None:
        yield picture


def _of_its_own(bytes_: int, is_all: bool, fact: Materialization | Unknown | None) -> Line:
    """The struct's bytes; what an object with references, or of C that nobody reads, keeps is not in them."""
    if not is_all:
        asked = text("--retained adds it", "dim")
        return Line("memory", text(f"{size(bytes_)} without what it keeps"), asked)
    if isinstance(fact, Materialization) and isinstance(fact.state, Unknown):
        return Line("memory", text(f"{size(bytes_)} without what it keeps in C, which is not known"))
    return Line("memory", text(size(bytes_)))


def _whose(buffer: Buffer) -> tuple[Span, ...]:
    """Where its bytes lie: spread over more memory, or a part of what another object owns."""
    owning = [holder for holder in buffer.holders if holder.owns is True]
    if isinstance(buffer.range, Unknown) or isinstance(buffer.logical_bytes, Unknown):
        return ()
    if buffer.range.bytes < buffer.logical_bytes:
        return text(f" that show {size(buffer.range.bytes)}", "dim")
    word = "spread over" if buffer.range.bytes > buffer.logical_bytes else "of"
    number = owning[0].bytes if len(owning) == 1 else Unknown("several owners")
    if isinstance(number, Unknown):
        return text(f" in {size(buffer.range.bytes)} of memory") if word == "spread over" else ()
    base = owning[0]
    name = base.name if base.name != base.type_name else ""
    whose = (Span(" of "), Span(name, "code")) if name else (Span(f" of its {base.type_name}"),)
    if number == buffer.logical_bytes or not _contains(base.range, buffer.range):
        return ()
    return (Span(f" {word} the {size(number)}"), *whose)


def _contains(whole: Range | Unknown, part: Range) -> bool:
    return not isinstance(whole, Unknown) and whole.start <= part.start and part.stop <= whole.stop


def _in_ram(facts: Mapping[str, Any], buffer: Buffer) -> str:
    """How much of the bytes is in memory, and where."""
    fact = facts.get("materialization")
    pages = fact.layers[-1].residency if fact is not None else Unknown("")
    if not isinstance(pages, Residency) or not pages.span_bytes:
        return ""
    where = "" if isinstance(buffer.mapping, Unknown) else _where(buffer.mapping)
    file = Unknown("") if isinstance(buffer.mapping, Unknown) else buffer.mapping.file
    is_file = not isinstance(file, Unknown)  # whose pages the kernel may keep in RAM for others
    there = "read in" if is_file else "in RAM"
    if pages.resident_bytes == pages.span_bytes:
        return f"all {there}{where}"
    if pages.zero_page_bytes and not pages.resident_bytes:
        return f"page of zeros{where}"
    share = 100 * pages.resident_bytes / pages.span_bytes
    said = f"{share:.0f} %" if share >= 1 else "under 1 %" if share else "none"
    return f"{said} {there}{where}"


def _where(mapping: Any) -> str:
    if not isinstance(mapping.file, Unknown):
        return f", file {mapping.file.rpartition('/')[2]}"
    return (
        ", huge pages"
        if mapping.huge_pages is True
        else ", shared"
        if mapping.kind == "shared memory"
        else ""
    )


def _layout(layout: Layout | None) -> Iterator[Block]:
    """The steps, where they are not those of contiguous rows; and the first elements."""
    if layout is None:
        return
    if layout.shape and not layout.c_contiguous and 0 not in layout.shape:
        down = f"  ↓ {_step(layout.strides_bytes[-2])}" if len(layout.strides_bytes) > 1 else ""
        yield Line(
            "layout",
            (Span(f"→ {_step(layout.strides_bytes[-1])}{down} a step"),),
            text(", ".join(layout.words) or "with gaps", "dim"),
            explain="Bytes from one element to the next: to the right, and down.",
            link="docs/glossary.md#strides",
        )
    if layout.members:
        fields = ", ".join(f"{member.name} {member.format}" for member in layout.members)
        yield Line("element", (Span(size(layout.itemsize_bytes)), Span(f"  {_cut(fields)}", "dim")))
    if not isinstance(layout.preview, Unknown) and len(layout.preview) > 1:
        yield Line(
            "values",
            text(_cut(", ".join(map(_rounded, layout.preview)), _count(layout.shape) > len(layout.preview))),
        )


def _rounded(value: str) -> str:
    """A long number in six digits."""
    try:
        return value if len(value) < 9 else f"{float(value):.6g}"
    except ValueError:
        return value


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _step(stride: int) -> str:
    return f"{stride} B" if abs(stride) < 10_000 else f"{'-' if stride < 0 else ''}{size(abs(stride))}"


def _cut(words: str, more: bool = False) -> str:
    """A list in one row: as many items as fit."""
    if len(words) <= MOST_VALUE_CELLS:
        return f"{words} …" if more else words
    whole = words[:MOST_VALUE_CELLS].rpartition(", ")[0]
    return f"{whole or words[:MOST_VALUE_CELLS]} …"


def _columns(parts: Parts | None) -> Iterator[Block]:
    """The columns with most bytes of a table; the others are counted."""
    if parts is None or not parts.parts:
        return
    rows = sorted(parts.parts, key=lambda part: -part.bytes if isinstance(part.bytes, int) else 0)
    largest = " (largest first)" if len(rows) > 1 else ""
    table = Table(("", "", "", ""), tuple(map(_row, rows)), (2,))
    left_out = parts.total - len(parts.parts)
    seen = text(f"the first {len(parts.parts)} looked at", "dim") if left_out else ()
    yield Fold(
        Line("columns", (Span(f"{parts.total:,}"), Span(largest, "dim")), seen), (table,), MOST_COLUMNS
    )


def _row(part: Part) -> tuple[tuple[Span, ...], ...]:
    shared = [f"shared with {part.owner_name}"] if part.owner_name else []
    if not isinstance(part.holders, Unknown) and part.holders > 1:
        shared.append("shared until written")
    amount = "?" if isinstance(part.bytes, Unknown) else size(part.bytes)
    return text(part.name, "code"), text(part.format), text(amount), text(", ".join(shared), "dim")


def _state(fact: Materialization | None) -> Iterator[Block]:
    """Why the state is unknown, unless the type is simply one that no adapter knows."""
    if fact is not None and isinstance(fact.state, Unknown) and not fact.state.reason.startswith(OPAQUE):
        yield Line("unknown", text(fact.state.reason, "warn"))


def _asked(buffer: Buffer | None) -> Iterator[Block]:
    """The answers of protocols that --ask called."""
    if buffer is None or not any(
        row.protocol in ONLY_ASKED and isinstance(row.exposure, Exposure) for row in buffer.spoken
    ):
        return
    for block in view(buffer):
        line = block.summary if isinstance(block, Fold) else block
        if isinstance(line, Line) and line.label == "speaks":
            yield block
