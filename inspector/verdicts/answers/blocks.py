"""What an object of several blocks is: a table, a sparse matrix, buffers of Arrow."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.buffer import Exposure
from inspector.facts.parts import Parts
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.keeping import is_much
from inspector.verdicts.answers.words import answer, code, known, listed, number, root

Facts = Mapping[str, Any]
COUNTED_IN_CPP = "Arrow buffer"
"""Protocol of blocks that only C++ counts: a word on who owns them would be a guess."""
MOST_BLOCKS = 4


def table(facts: Facts) -> Iterator[Answer]:
    """A table: rows, columns, bytes; object columns have their objects elsewhere."""
    parts, buffer = known(facts, "parts"), known(facts, "buffer")
    if parts is None:
        return
    text = counted(parts.total, "column")
    if not isinstance(parts.rows, Unknown):
        text = f"{counted(parts.rows, 'row')} × {text}"
    total = number(buffer.logical_bytes) if buffer is not None else 0
    text += f", {size(total)}" if total else ""
    base = root(buffer) if buffer is not None else None
    shown = base.shown_by if base is not None and parts.total == 1 else ""
    shown = shown or _shared_with(facts)
    shared = f", shared with {code(shown)}" if shown else ""
    text = f"{text}{_objects(parts)}{_not_known(parts)}{shared}."
    yield answer("table", text, "parts", "buffer.logical_bytes", about=(shown,), costs_bytes=total)


def _shared_with(facts: Facts) -> str:
    """Another object that shows all its bytes, where no later sentence tells so."""
    buffer, fact = known(facts, "buffer"), known(facts, "materialization")
    if buffer is None or (fact is not None and fact.state == "copy-on-write pending"):
        return ""
    return str(buffer.shared_with)


def _objects(parts: Parts) -> str:
    """Columns of Python objects: only their pointers are counted."""
    names = [code(part.name) for part in parts.parts if part.format in ("object", "O")]
    if not names:
        return ""
    which = listed(names[:3]) if len(names) <= 3 else f"{len(names):,} columns"
    return f", without the Python objects that {which} {'points' if len(names) == 1 else 'point'} to"


def _not_known(parts: Parts) -> str:
    """Columns of arrays that no adapter knows."""
    names = [code(part.name) for part in parts.parts if isinstance(part.bytes, Unknown)]
    return f", without {listed(names, 3)}, whose bytes are not known" if names else ""


def blocks(facts: Facts) -> Iterator[Answer]:
    """Several blocks of bytes that are no columns: a sparse matrix, an array with a mask."""
    buffer, fact = known(facts, "buffer"), known(facts, "materialization")
    if buffer is None or fact is None or known(facts, "model"):
        return
    seen = [way for way in buffer.spoken if not isinstance(way.exposure, Unknown)]
    blocks = [_block_name(layer.what) for layer in fact.layers if layer.level == "buffer"]
    total, later = number(buffer.logical_bytes), number(fact.logical_bytes)
    if len(blocks) != len(seen) or len(seen) < 2 or not total:
        return
    names = [code(name) for name in blocks if name.isidentifier()]
    which = f": {listed(names)}" if len(set(names)) == len(blocks) <= MOST_BLOCKS else ""
    only = "only " if later < total else ""
    is_worth_it = later > 2 * total or 0 < later < total
    dense = f"; as one dense array it would be {only}{size(later)}" if is_worth_it else ""
    pointers = any(way.exposure.format in ("|O", "O") for way in seen if isinstance(way.exposure, Exposure))
    extra = "; the Python objects that its pointers lead to are extra" if pointers else ""
    other = _shared_with(facts)
    shared = f", shared with {code(other)}" if other else ""
    text = f"Has {size(total)} in {counted(len(blocks), 'block')}{which}{shared}{dense}{extra}."
    yield answer("blocks", text, "buffer.logical_bytes", "materialization.layers", costs_bytes=total)


def _block_name(said: str) -> str:
    """ "data" of "data float64 (10,)"; "" for a block without a name, "float64 (10,)"."""
    name, *element = said.partition(" (")[0].split(" ")
    return name if element else ""


def of_arrow(facts: Facts) -> Iterator[Answer]:
    """Blocks that only C++ counts."""
    buffer, fact = known(facts, "buffer"), known(facts, "materialization")
    if buffer is not None and (total := number(buffer.logical_bytes)):
        if fact is not None and is_much(total, number(fact.retained_bytes), facts):
            return  # that it is a part of larger buffers says more
        ways = [way.protocol for way in buffer.spoken if not isinstance(way.exposure, Unknown)]
        text = f"Has {size(total)} of Arrow's; who else shows them, Arrow counts in C++."
        if set(ways) != {COUNTED_IN_CPP}:
            text = f"Has {size(total)} in {counted(len(ways), 'block')}."
        if len(ways) > 1 or COUNTED_IN_CPP in ways:
            yield answer("counted-in-cpp", text, "buffer.logical_bytes", costs_bytes=total)
