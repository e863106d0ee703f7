"""Draws whether the data is there: the state, the layers with evidence, the pages as a strip, the dangers."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.finding import Finding
from inspector.facts.materialization import Evidence, Layer, Materialization, Residency
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Picture, Span, text
from inspector.views.view import blocks

PAGE = "docs/reference/materialization.md"
SIGNS = {"p": "█", "f": "▓", "s": "▒", "z": "░", "w": "~", ".": "·"}
"""Letter of a strip (facts.materialization.Residency) -> block character."""
KINDS = {
    "p": ("private", "fact"),
    "f": ("file", "native"),
    "s": ("shared", "python"),
    "z": ("page of zeros", "dim"),
    "w": ("swapped", "warn"),
    ".": ("absent", "dim"),
}
SMALL_BYTES = 1 << 16
MOST_WHAT = 34
MOST_SHOWN = 10
"""Layers shown without --all."""
MILD = ("shared-copy-on-write", "large-base")
"""Slugs of findings that cost time or memory but break nothing."""


@blocks.register
def materialization(fact: Materialization) -> tuple[Block, ...]:
    """Lines: what would copy or make the elements, state, layers, pages, memory; dangers last."""
    return (*_would(fact), _state(fact), *_layers(fact), *_memory(fact), *map(danger, fact.findings))


def _state(fact: Materialization) -> Line:
    known = not isinstance(fact.state, Unknown)
    about = "  ".join(_about(fact)) if known else ""
    return Line(
        "state",
        (Span(str(fact.state), "fact" if known else "dim"), Span(f"  {about}" if about else "", "dim")),
        right=text(_share(fact), "dim"),
        explain="Whether the elements exist, where, who frees them, and whether their pages are in memory.",
        link=f"{PAGE}#states",
    )


def _about(fact: Materialization) -> Iterator[str]:
    """Layer answers that differ from the state, what it waits for, and the call that materialized it."""
    words = (fact.layers[0].value, fact.layers[-1].storage, *(layer.title for layer in fact.layers[-2:]))
    known = dict.fromkeys(word for word in words if not isinstance(word, Unknown) and word != fact.state)
    if known:
        yield " · ".join(known)
    if fact.waits_for:
        yield f"waits for {fact.waits_for}"
    if not isinstance(fact.materialized_by, Unknown):
        yield f"materialized by {fact.materialized_by}"


def _share(fact: Materialization) -> str:
    pages = fact.layers[-1].residency
    if not isinstance(pages, Residency):
        return ""
    if pages.zero_page_bytes and not pages.resident_bytes:
        return "page of zeros"
    return f"{percent(pages.resident_bytes, pages.span_bytes)} resident"


def percent(part: int, whole: int) -> str:
    """A share as text: "100 %", "2.4 %", "under 0.1 %"; "0 %" and "100 %" only if exact."""
    if not whole or part == whole:
        return "100 %"
    if not part:
        return "0 %"
    share = 100 * part / whole
    if share < 0.1:
        return "under 0.1 %"
    return f"{share:.1f} %" if share < 9.95 else f"{min(share, 99):.0f} %"


def _layers(fact: Materialization) -> Iterator[Block]:
    """The layers, folded for a plain object; a lone wrapper is not drawn: the headline says it all."""
    if len(fact.layers) > 1 or len(fact.layers[0].evidence) > 1:
        wide = max(len(_what(layer)) for layer in fact.layers)
        rows = [line for layer in fact.layers for line in _rows(layer, min(wide, MOST_WHAT))]
        if fact.layers_left_out:
            rows.append(Line("", text(f"{fact.layers_left_out:,} more were not inspected", "dim")))
        yield from [_folded(rows, fact)] if _is_plain(fact) else _shortened(rows)
    pages = fact.layers[-1].residency
    if isinstance(pages, Residency) and pages.strip and pages.span_bytes > SMALL_BYTES:
        yield strip(pages)


def _shortened(rows: list[Line]) -> Iterator[Block]:
    """The rows; if there are many, those in the middle are folded."""
    plain = [row for row in rows if not row.verbose]
    if len(plain) <= MOST_SHOWN:
        yield from rows
        return
    first, last = rows.index(plain[MOST_SHOWN - 3]), rows.index(next(r for r in rows if r.label == "pages"))
    yield from rows[:first]
    between = tuple(row for row in rows[first:last] if not row.verbose)
    yield Fold(Line("", (Span(str(len(between))), Span("  layers more", "dim"))), between, shown=0)
    yield from rows[last:]


def _is_plain(fact: Materialization) -> bool:
    """Whether it is a small block of its own, entirely in memory."""
    pages = fact.layers[-1].residency
    small = isinstance(pages, Residency) and pages.private_bytes == pages.span_bytes <= SMALL_BYTES
    return small and fact.state == "owned" and not fact.layers_left_out


def _folded(rows: list[Line], fact: Materialization) -> Fold:
    names = ", ".join(layer.level for layer in fact.layers)
    return Fold(
        Line("layers", (Span(str(len(fact.layers))), Span(f"  {names}", "dim"))), tuple(rows), shown=0
    )


def _what(layer: Layer) -> str:
    return "  " * max(layer.depth - 1, 0) + layer.what


def _rows(layer: Layer, wide: int) -> Iterator[Line]:
    """One line per layer: what it is, its answers, its evidence; more evidence with -v."""
    said = _dirty(layer.residency) if layer.level == "pages" else _answers(layer)
    seen = next((one for one in layer.evidence if one.says != layer.what), None)
    first = f"  {_seen(seen)}" if seen else ""
    yield Line(
        layer.level,
        (Span(_what(layer).ljust(wide)), Span(f"  {said.ljust(18)}"), Span(first, "dim")),
        explain="Do the elements exist? Where are the bytes? Who frees them? Then the evidence.",
        link=f"{PAGE}#layers",
    )
    for more in layer.evidence:
        yield Line("", text(f"{' ' * wide}  {more.source} {more.place}: {more.says}", "dim"), verbose=True)


def _answers(layer: Layer) -> str:
    """The informative answers: a value other than "computed"; storage and title if there are bytes."""
    words: list[str | Unknown] = [layer.value] if layer.value != "computed" or not layer.spans else []
    if layer.spans or layer.title not in ("owned", "view"):
        words += [layer.storage, layer.title]
    elif layer.storage not in ("heap", "none"):
        words.append(layer.storage)
    return " · ".join(word for word in words if not isinstance(word, Unknown)) or "?"


def _dirty(pages: Residency | Unknown) -> str:
    if isinstance(pages, Unknown):
        return str(pages)
    huge = f", {size(pages.huge_bytes)} huge" if pages.huge_bytes else ""
    return f"{size(pages.private_bytes)} private{huge}"


def _seen(one: Evidence) -> str:
    if one.source == "system call":
        return one.place
    return one.says if one.source in ("type", "address") else f"{one.place}: {one.says}"


def strip(pages: Residency) -> Picture:
    """The pages in order, one character per part, and a legend of the characters used."""
    runs: list[Span] = []
    for letter in pages.strip:
        style = KINDS[letter][1]
        if runs and runs[-1].style == style and runs[-1].text.endswith(SIGNS[letter]):
            runs[-1] = Span(runs[-1].text + SIGNS[letter], style)
        else:
            runs.append(Span(SIGNS[letter], style))
    present = [letter for letter in SIGNS if letter in pages.strip]
    legend = "  ".join(f"{SIGNS[letter]} {KINDS[letter][0]}" for letter in present)
    shares = {letter: 100 * pages.strip.count(letter) // len(pages.strip) for letter in present}
    told = ", ".join(f"{KINDS[letter][0]} {share} %" for letter, share in shares.items())
    return Picture(((*runs, Span(f"   {legend}", "dim")),), f"The pages of its bytes: {told}.")


def _memory(fact: Materialization) -> Iterator[Line]:
    """The byte counts as a sum; nothing if all bytes are simply private memory."""
    amounts = [
        (fact.private_bytes, "private"),
        (fact.file_bytes, "of a file"),
        (fact.shared_bytes, "shared"),
        (fact.zero_page_bytes, "page of zeros"),
        (fact.swapped_bytes, "swapped"),
        (fact.absent_bytes, "absent"),
    ]
    parts = [f"{size(n)} {word}" for n, word in amounts if not isinstance(n, Unknown) and n]
    if isinstance(fact.span_bytes, Unknown) or isinstance(fact.logical_bytes, Unknown):
        return
    plain = fact.retained_bytes == fact.logical_bytes == fact.span_bytes == fact.private_bytes
    if plain or not (fact.logical_bytes or fact.span_bytes):
        return
    known = 0 if isinstance(fact.retained_bytes, Unknown) else fact.retained_bytes
    kept = f"  keeps {size(known)}" if known else ""
    addresses = f"  {size(fact.span_bytes)} = {' + '.join(parts)}" if parts else "  none here"
    yield Line(
        "memory",
        (Span(f"{size(fact.logical_bytes)} logical"), Span(addresses + kept, "dim")),
        explain="Logical: of all elements. Then its address space, each byte counted once. Kept: bases too.",
        link=f"{PAGE}#bytes-that-add-up",
    )


def would(fact: Materialization) -> tuple[str, ...]:
    """What copies or makes the elements; () where no layer knows."""
    return tuple(dict.fromkeys(word for layer in fact.layers for word in layer.would))


def _would(fact: Materialization) -> Iterator[Line]:
    does = would(fact)
    would_not = tuple(dict.fromkeys(word for layer in fact.layers for word in layer.would_not))
    if does:
        refusal = (Span("   would not  ", "dim"), Span(", ".join(would_not))) if would_not else ()
        yield Line(
            "would",
            (Span(", ".join(does)), *refusal),
            explain="What would materialize it or copy it, and what would not.",
            link=f"{PAGE}#what-would",
        )


def danger(found: Finding) -> Line:
    """A finding: slug, what was found, what to do."""
    maybe = "" if found.certain else "perhaps "
    return Line(
        "warn",
        (Span(f"{found.slug}: ", "warn" if found.slug in MILD else "danger"), Span(maybe + found.what)),
        right=text(found.do, "dim"),
        explain=f"{found.why[:1].upper()}{found.why[1:]}.",
        link=found.page,
    )
