"""Draws the verdicts on references: what leaked, where it was created, which rule was broken, what to do."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence

from inspector.facts.amounts import counted
from inspector.facts.conversion import Site
from inspector.facts.leaks import KeptByC, Leaks, SourceLine, Touch, Verdict, WatchedModule
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.answers import coded
from inspector.views.grammar import Block, Fold, Line, Prose, Span, Table, text
from inspector.views.plain import clipped
from inspector.views.raw_memory import of_raw_memory
from inspector.views.view import blocks

PAGE = "docs/reference/leaks.md"
TOUCHES_SHOWN = 5
OWN = "/inspector/sessions/"
"""A call that this package makes for the user (`%%inspect_c --trace`) is at no line of the user's."""
MOST_SOURCE = 44
"""Characters of a source line."""
_MARKS = {"missing": "+", "surplus": "−"}
_WORDS = {
    "new": "returns a new reference",
    "borrowed": "returns a borrowed reference",
    "stolen": "steals its {parameter}",
    "stolen on failure": "failed, and stole its {parameter} all the same",
    "not stolen": "failed, and did not steal its {parameter}",
    "kept": "does not steal its {parameter}",
    "released": "releases a reference",
    "stored": "stores a new reference",
    "replaced": "replaces the reference",
    "died": "released its last reference",
    "unbalanced": "left {change:+d}",
    "returned": "returned it",
    "settled": "left it with one reference, which was held",
    "outlived": "ended what held it, and left it as it was",
    "freed": "freed its memory",
    "viewed": "made the view",
    "allocated": "allocated the block",
    "caller": "called it",
}


@blocks.register
def of_leaks(fact: Leaks) -> tuple[Block, ...]:
    """The verdicts, then what is kept on purpose, raw memory, and what was watched."""
    return _of_leaks(fact, 0)


def below_answers(fact: Leaks) -> tuple[Block, ...]:
    """The same under the answers of a report, the first of which is the first verdict's sentence."""
    return _of_leaks(fact, 1)


def _of_leaks(fact: Leaks, told: int) -> tuple[Block, ...]:
    shown = [verdict for verdict in fact.verdicts if not verdict.is_of_import]
    lines: list[Block] = []
    for number, verdict in enumerate(shown):
        lines += _verdict(verdict, fact.many(verdict), told=number < told and bool(verdict.said))
    if len(shown) < len(fact.verdicts):
        lines.append(_left_by_imports(fact))
    lines += [_grows(row) for row in fact.kept if row.growth]
    if fact.kept:
        lines.append(_kept(fact.kept))
    lines += of_raw_memory(fact.raw_memory, fact.runs)
    return (
        *lines,
        *map(_watched, fact.watched),
        *(Line("note", text(note, "dim")) for note in fact.notes),
        _evidence(fact, shown),
    )


def _evidence(fact: Leaks, shown: Sequence[Verdict]) -> Fold:
    """The rules that were broken, the calls in full, and what was searched."""
    rules = [line for verdict in shown for line in _proof(verdict)]
    kinds = "rules, C-API calls, what was searched" if rules else "what was searched"
    return Fold(Line("more", text(kinds, "dim"), text("--all", "dim")), (*rules, _looked(fact)), shown=0)


def _proof(verdict: Verdict) -> tuple[Line, ...]:
    calls = tuple(map(_touch, _shown(verdict))) if verdict.lines else ()
    return (Line("rule", text(verdict.rule), link=f"{PAGE}#rules"), *calls)


def _left_by_imports(fact: Leaks) -> Fold:
    """Modules fill their own tables when they are imported; such a loss happens once."""
    imports = [verdict for verdict in fact.verdicts if verdict.is_of_import]
    head = Line(
        "imports",
        text(f"{len(imports)} possible, from module imports: once per process"),
        explain="A module's body runs once, so its losses do not grow.",
        link=f"{PAGE}#imports",
    )
    lines = tuple(line for verdict in imports for line in _verdict(verdict, fact.many(verdict)))
    return Fold(head, lines, shown=0)


def _verdict(verdict: Verdict, many: str, told: bool = False) -> tuple[Block, ...]:
    """The sentence unless it is told already; the lines of native code, or the calls if they are unknown."""
    said = () if told else (_sentence(verdict, many),)
    steps = (_source(verdict), *_called(verdict)) if verdict.lines else tuple(map(_touch, _shown(verdict)))
    do = () if any(line.change for line in verdict.lines) else (Line("cure", text(verdict.cure, "good")),)
    sure = Line(
        "certain" if verdict.certain else "possible",
        (*text(verdict.reason, "dim"), *_owners(verdict)),
        explain="certain: refcounts, owners and deaths leave no other explanation.",
        link=f"{PAGE}#verdicts",
    )
    return (*said, *steps, *do, sure)


def _sentence(verdict: Verdict, many: str) -> Block:
    if verdict.said:
        return Prose(coded(verdict.said))
    return Line(
        "fault",
        (
            *text(f"{verdict.method or 'native code'}  ", "native"),
            *text(verdict.kind, "danger" if verdict.certain else "warn"),
            *text(f"  {verdict.object}{many}" if verdict.object else ""),
        ),
    )


def _source(verdict: Verdict) -> Table:
    """Lines of native code: number, text, what it does to the object."""
    first = verdict.lines[0].file
    rows = tuple(
        (
            text(_numbered(line, first), "danger" if line.change else "dim"),
            text(clipped(line.text, MOST_SOURCE), "native"),
            text(line.note, "danger" if line.change else "dim"),
        )
        for line in verdict.lines
    )
    return Table(("", "", ""), rows, right_aligned=(0,))


def _numbered(line: SourceLine, first: str) -> str:
    place = f"{line.number or ''}" if line.file == first else f"{line.file}:{line.number}"
    return f"{_MARKS.get(line.change, '')} {place}".strip()


def _called(verdict: Verdict) -> tuple[Line, ...]:
    """The line of Python that called it."""
    sites = [_site(touch.site) for touch in _shown(verdict) if OWN not in str(touch.site.file)]
    return next(((Line("called", site),) for site in sites if site), ())


def _shown(verdict: Verdict) -> tuple[Touch, ...]:
    """The calls to show: the conversion first, then the calls after it."""
    if isinstance(verdict.conversion, Unknown):
        return verdict.stack[:TOUCHES_SHOWN]
    rest = [touch for touch in verdict.stack if touch != verdict.conversion and touch.role != "unbalanced"]
    return (verdict.conversion, *rest[: TOUCHES_SHOWN - 1])


def _touch(touch: Touch) -> Line:
    name = touch.function or touch.method or "a call from Python"
    where = touch.source if isinstance(touch.source, str) else _symbol(touch, name)
    words = _WORDS[touch.role].format(parameter=touch.parameter, change=touch.change)
    if not touch.function and not touch.change and touch.role not in ("settled", "outlived"):
        words = ""
    evidence = "  ".join(part for part in (where, words) if part)
    return Line(
        "C" if touch.function else "Py",
        (*text(f"{name}  ", "native"), *text(evidence, "dim")),
        _site(touch.site),
    )


def _symbol(touch: Touch, named: str) -> str:
    """The C function, if no source line is known; "" if the row is already `named` after it."""
    return f"in {touch.symbol}" if isinstance(touch.symbol, str) and touch.symbol != named else ""


def _site(site: Site) -> tuple[Span, ...]:
    if isinstance(site.line, Unknown) or isinstance(site.file, Unknown):
        return ()
    name = f"cell {site.cell}" if not isinstance(site.cell, Unknown) else site.file.rpartition("/")[2]
    return text(f"{name}:{site.line}", "python")


def _owners(verdict: Verdict) -> tuple[Span, ...]:
    named = "; ".join(verdict.owners[:3])
    return text(f"  held by {named}", "dim") if named and verdict.certain else ()


def _grows(row: KeptByC) -> Line:
    runs = len(row.growth)
    more = f"{', '.join(map(str, row.growth))} more{f' after each of {runs} runs' if runs > 1 else ''}"
    by = f", kept by {row.holder}" if row.holder else ""
    return Line("grows", text(f"{row.object}: {more}{by}", "warn"), link=f"{PAGE}#kept-on-purpose")


def _kept(kept: tuple[KeptByC, ...]) -> Block:
    objects = sum(row.objects for row in kept)
    rows = tuple(
        Line("", (*text(f"{row.object} ×{row.objects}  "), *text(f"{row.holder}  {row.method}", "dim")))
        for row in kept
    )
    head = Line(
        "kept",
        text(f"{counted(objects, 'object')} by native code, as far as memory tells"),
        explain="A pointer in static data or a C struct accounts for each of them.",
        link=f"{PAGE}#kept-on-purpose",
    )
    return Fold(head, rows, shown=0)


def _watched(one: WatchedModule) -> Line:
    name = one.module or "all extensions"
    if one.why:
        return Line("watched", text(f"nothing of {name}: {one.why}", "warn"), link=PAGE)
    words = (
        f"{counted(one.functions, 'function')} called {one.calls:,}x, "
        f"{counted(one.slots, 'import slot')} used {one.uses:,}x"
    )
    return Line("watched", text(f"{name}: {words}", "warn" if one.is_silent else "dim"), link=PAGE)


def _looked(fact: Leaks) -> Line:
    words = [f"{fact.suspects} searched in {size(fact.scanned_bytes)}, {fact.scan_ns / 1e6:.0f} ms"]
    if fact.left_out > fact.unlike:
        words.append(f"{fact.left_out - fact.unlike:,} more like them not searched")
    if fact.unlike:
        words.append(f"{fact.unlike:,} of other origins not searched")
    if fact.not_noted:
        words.append(f"{fact.not_noted:,} events dropped: the ledger was full")
    if fact.given_back:
        words.append(f"{fact.given_back} added to over-released objects, so that the process survives")
    return Line("suspects", text(" · ".join(words), "dim"), text(_runs(fact), "dim"))


def _runs(fact: Leaks) -> str:
    return f"{fact.wall_ns / 1e6:.1f} ms" if fact.runs == 1 else f"{fact.runs} runs"
