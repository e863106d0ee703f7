"""Draws what a trace recorded during imports on one line: often most of it, and rarely of interest."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import replace

from inspector.facts.conversion import Site, Trace
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Table, text
from inspector.views.sites import place

PAGE = "docs/reference/traces.md#imports"


def at_import(site: Site) -> bool:
    """Whether the line is an import statement or belongs to importlib."""
    is_importer = not isinstance(site.file, Unknown) and site.file.startswith("<frozen importlib")
    return is_importer or site.text.startswith(("import ", "from "))


def without_imports(fact: Trace) -> Trace:
    """The trace without the calls, copies and lines of imports; unchanged if nothing else is left."""
    rest = replace(
        fact,
        calls=tuple(row for row in fact.calls if not at_import(row.site)),
        copies=tuple(row for row in fact.copies if not at_import(row.site)),
        crossings=tuple(row for row in fact.crossings if not at_import(row.site)),
    )
    return rest if rest.calls or rest.copies or rest.crossings else fact


def of_imports(fact: Trace, rest: Trace) -> Iterator[Block]:
    """One line for everything `rest` leaves out, with a row for each import."""
    if rest is fact or len(rest.crossings) == len(fact.crossings):
        return
    copied = [row for row in fact.copies if at_import(row.site) and row.verdict == "copied"]
    left = [row for row in fact.crossings if at_import(row.site)]
    calls = sum(row.calls for row in left)
    amount = size(sum(row.copied_bytes for row in copied))
    said = f"{calls:,} calls and {amount} copied while modules were imported"
    rows = tuple((place(row.site), text(row.site.text), text(f"{row.calls:,}")) for row in left)
    yield Fold(Line("imports", text(said, "dim"), link=PAGE), (Table(("line", "", "calls"), rows, (2,)),), 0)
