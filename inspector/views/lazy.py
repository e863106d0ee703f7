"""Draws a lazy vector: its state, data1 and data2, its blocks, its events; and the contract check."""

# SPDX-License-Identifier: MIT
from inspector.facts.lazy import INPUT_CHANGED, Lazy, LazyClause, LazyContract, LazyEvent, LazyNode
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Picture, Span, text
from inspector.views.sites import duration
from inspector.views.view import blocks

PAGE = "docs/reference/lazy.md"
STRIP = 32
"""Characters in the picture of the blocks."""


@blocks.register
def of_lazy(fact: Lazy) -> tuple[Block, ...]:
    """Lines: state, data1, data2, blocks, events; a warning last."""
    made: list[Block] = [_state(fact), *(_node(node) for node in fact.stack[1:])]
    if 0 < fact.stack[0].blocks_done < fact.stack[0].blocks:
        made.append(_strip(fact.stack[0]))
    made += [_event(event) for event in fact.events]
    if fact.events_dropped:
        made.append(Line("", text(f"{fact.events_dropped} earlier events dropped", "dim")))
    if fact.input == INPUT_CHANGED:
        made.append(
            Line(
                "warn",
                text("input-changed: input changed since it was read", "warn"),
                text("freeze=True", "dim"),
                explain="The vector borrows its input: blocks computed from now on use the changed input.",
                link=f"{PAGE}#the-input-changes",
            )
        )
    return tuple(made)


def _state(fact: Lazy) -> Line:
    words = f"{fact.state} · {'no memory' if fact.storage == 'none' else 'heap'}"
    if fact.state == "partially materialized":
        words = f"{fact.state} · {fact.stack[0].blocks_done}/{fact.stack[0].blocks} blocks · heap"
    shared = " · data2 shared until written" if fact.title == "cow" else ""
    written = " · written: the recipe may not hold" if fact.written else ""
    changed = "changed since" if fact.input == INPUT_CHANGED else fact.input
    about_input = str(changed) if isinstance(changed, Unknown) else f"input {changed}"
    return Line(
        "state",
        (*text(words + shared + written), *text(f"   {about_input}", "dim")),
        text(f"{size(fact.owned_bytes)} of {size(fact.logical_bytes)}"),
        explain="Whether the elements exist: lazy (recipe only), partially materialized, or owned.",
        link=f"{PAGE}#states",
    )


def _node(node: LazyNode) -> Line:
    name = f"lazy({node.recipe})" if node.recipe else node.type_name
    more = ", …" if node.preview and node.length != len(node.preview) else ""
    values = f"  {', '.join(node.preview)}{more}" if node.preview else ""
    count = "1 reference" if node.references == 1 else f"{node.references} references"
    evidence = f"  @{node.address:x}  {count}"
    value = f"{'  ' * (node.depth - 1)}{name} {node.dtype} ({node.length},)"
    return Line(
        node.role if node.depth == 1 else "",
        (*text(value), *text(values + evidence, "dim")),
        explain="data1 is the input, data2 the result once it is materialized.",
        link=f"{PAGE}#data1-and-data2",
    )


def _strip(node: LazyNode) -> Picture:
    filled = max(1, round(STRIP * node.blocks_done / node.blocks))
    row = (Span("         ", "dim"), Span("█" * filled, "native"), Span("░" * (STRIP - filled), "dim"))
    return Picture((row,), f"{node.blocks_done} of {node.blocks} blocks are materialized")


def _event(event: LazyEvent) -> Line:
    by = event.by if isinstance(event.by, str) else event.function
    where = f"cell {event.cell}:{event.line}" if isinstance(event.cell, int) else _place(event)
    words = {
        "materialize": f"materialized by {by}",
        "freeze": "input frozen without a copy",
        "copy": "input frozen as a copy: others could write to it",
    }
    return Line(
        "event",
        (*text(words.get(event.kind, event.kind)), *text(f"   {where}", "dim")),
        text(f"{size(event.bytes)}  {duration(event.ns)}"),
        link=f"{PAGE}#events",
    )


def _place(event: LazyEvent) -> str:
    if isinstance(event.file, Unknown):
        return str(event.file)
    return f"{event.file.rsplit('/', 1)[-1]}:{event.line}"


@blocks.register
def of_contract(fact: LazyContract) -> tuple[Block, ...]:
    """Broken clauses first, the rest folded."""
    head = Line(
        "contract",
        text(f"{fact.provider} {fact.dtype} ({fact.length},)"),
        text(f"{len(fact.broken)} of {len(fact.clauses)} broken", "danger" if fact.broken else "good"),
        explain="The clauses of a lazy provider's contract, tested at every boundary.",
        link=f"{PAGE}#the-contract",
    )
    kept = tuple(_clause(clause) for clause in fact.clauses if clause.holds is not False)
    fold = Fold(Line("kept", text(f"{len(kept)} clauses")), kept)
    return (head, *(_clause(clause) for clause in fact.broken), fold)


def _clause(clause: LazyClause) -> Line:
    if isinstance(clause.holds, Unknown):
        return Line("", (*text(clause.name), *text(f"   {clause.holds}", "dim")))
    style = "fact" if clause.holds else "danger"
    return Line(
        "" if clause.holds else "broken", (*text(clause.name, style), *text(f"   {clause.evidence}", "dim"))
    )
