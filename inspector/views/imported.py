"""What a trace saw while modules were imported: rarely what was asked for, and often most of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inspector.facts.conversion import Site, Trace
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Table, text
from inspector.views.sites import place

PAGE = "docs/reference/traces.md#imports"


def at_import(site: Site) -> bool:
    """Whether the line is an import statement, or the importer's own."""
    is_importer = not isinstance(site.file, Unknown) and site.file.startswith("<frozen importlib")
    return is_importer or site.text.startswith(("import ", "from "))


def without_imports(fact: Trace) -> Trace:
    """The trace as its own lines made it; the trace itself where all of it is imports."""
    rest = replace(
        fact,
        calls=tuple(one for one in fact.calls if not at_import(one.site)),
        copies=tuple(one for one in fact.copies if not at_import(one.site)),
        crossings=tuple(one for one in fact.crossings if not at_import(one.site)),
    )
    return rest if rest.calls or rest.copies or rest.crossings else fact


def of_imports(fact: Trace, rest: Trace) -> Iterator[Block]:
    """One line for what `rest` leaves out; each import is a row of it."""
    if rest is fact or len(rest.crossings) == len(fact.crossings):
        return
    copied = [one for one in fact.copies if at_import(one.site) and one.verdict == "copied"]
    left = [one for one in fact.crossings if at_import(one.site)]
    calls = sum(one.calls for one in left)
    amount = size(sum(one.copied_bytes for one in copied))
    said = f"{calls:,} calls and {amount} copied while modules were imported"
    rows = tuple((place(one.site), text(one.site.text), text(f"{one.calls:,}")) for one in left)
    yield Fold(Line("imports", text(said, "dim"), link=PAGE), (Table(("line", "", "calls"), rows, (2,)),), 0)
