"""The values behind a statement's names, read without running the user's code; and how two values relate."""

# SPDX-License-Identifier: MIT
import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from types import CellType, FrameType
from typing import Any, Final, Literal

from inspector import _native
from inspector.adapters.base import Elements, stored
from inspector.adapters.registry import adapter_of
from inspector.facts.memory import Range
from inspector.facts.statements import OBJECTS, Relation
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import type_name
from inspector.objects.sharing.chosen import cast_of, chosen_from, uniform
from inspector.objects.sharing.made_from import made_from
from inspector.objects.sharing.meetings import Blocks, judged, meetings, total_of
from inspector.objects.sharing.one_file import by_file, of_file
from inspector.objects.sharing.runs import held_in
from inspector.sessions.statements.casts import in_fields, is_cast, like_channels, like_one_of
from inspector.sessions.statements.elements import (
    CHUNKS,
    DICTS,
    HOLDERS,
    MOST_ITEMS,
    OFFSETS,
    bytes_of,
    elements_of,
    is_boxed,
    keeps_unseen,
    kind_of,
    ranges_of,
    sampled,
    size_of,
)

NONE: Final = ()
MOST_NAMED: Final = 3
ROUNDED: Final = 64
"""Bytes to which Arrow rounds a buffer up."""
HAS: Final = frozenset(("whole", "all"))
"""What `found_in` says of a block that has all elements of another."""
Found = tuple[Any, ...]
"""(value,), or () where there is none."""


@dataclass(frozen=True, slots=True)
class Before:
    """An operand, as it was before the statement; without a reference to it."""

    address: int
    blocks: Blocks
    total: int
    columns: int = 1
    """Of a table."""
    sample: int = 0
    """Hash of some of its bytes."""
    items: str = ""
    """Of a list or tuple: "20,000 dict"."""
    boxed: bool = False
    """Whether its elements are Python objects that nothing reads."""


@dataclass(frozen=True, slots=True)
class Related:
    """How a value relates to the operands of its statement."""

    relation: Relation
    of: str
    shared_bytes: int | Unknown
    values: Literal["equal", "different", ""]
    compared_all: bool
    others: Blocks = ()
    """Of a value apart that has elements of `of`: its blocks that have others."""


def read(frame: FrameType, path: str) -> Found:
    """The value of "y", "self.x", "d['k']": plain names, instance dicts and exact dicts, lists and tuples."""
    return _read(frame, _parsed(path))


@lru_cache(1024)
def _parsed(path: str) -> ast.expr:
    return ast.parse(path, mode="eval").body


def _read(frame: FrameType, node: ast.expr) -> Found:
    if isinstance(node, ast.Name):
        return named(frame, node.id)
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or not (owner := _read(frame, node.value)):
        return NONE
    if isinstance(node, ast.Attribute):
        found = stored(owner[0], node.attr, NONE)
        return NONE if found is NONE else (found,)
    return _item(owner[0], node.slice.value) if isinstance(node.slice, ast.Constant) else NONE


def _item(holder: Any, key: Any) -> Found:
    if type(holder) is dict and _native.exactly(key, str, int, bytes):
        return (holder[key],) if key in holder else NONE
    if _native.exactly(holder, list, tuple) and type(key) is int:
        return (holder[key],) if -len(holder) <= key < len(holder) else NONE
    return NONE


def named(frame: FrameType, name: str) -> Found:
    """The value of a name in a frame, or of attributes of one."""
    if "." in name:
        return read(frame, name)
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        if found := _variable(frame, name):
            return found
    elif (found := _item(frame.f_locals, name)) or frame.f_locals is frame.f_globals:
        return found
    return _item(frame.f_globals, name)


def _variable(frame: FrameType, name: str) -> Found:
    """A local variable of a function, read without making `f_locals`, which would keep every value."""
    cells = (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)
    value: Found = next(((value,) for key, value in _native.frame_locals(frame) if key == name), NONE)
    if value and type(value[0]) is CellType and name in cells:
        try:
            return (value[0].cell_contents,)
        except ValueError:  # not bound yet
            return NONE
    return value


def other_name(frame: FrameType, value: Any, targets: tuple[str, ...]) -> str:
    """Another name of the frame for the very object, as a function may return; "" if it has none."""
    is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
    pairs = _native.frame_locals(frame) if is_function else list(frame.f_globals.items())
    return next((name for name, held in pairs if held is value and name not in targets), "")


def before(value: Any, sample: bool) -> Before | None:
    """An operand's blocks; None for what has no elements. `sample`: with a hash of some of its bytes."""
    if is_boxed(value):
        return Before(id(value), (), 1, boxed=True)
    blocks = elements_of(value)
    if not blocks and _native.exactly(value, list, tuple) and value:
        kind = type_name(type(value[0])).rpartition(".")[2]
        return Before(id(value), (), 0, items=f"{len(value):,} {kind}")
    if not blocks:
        return Before(id(value), (), 1) if keeps_unseen(value) else None
    if _native.exactly(value, *HOLDERS):
        return Before(id(value), blocks, len(blocks))
    subject = _native.Subject(value)
    adapter = adapter_of(type(value))
    table = adapter.columns(value, 0) if adapter is not None else None
    columns = table[1] if table is not None else 1
    return Before(id(value), blocks, total_of(subject, blocks), columns, sampled(blocks) if sample else 0)


def related(value: Any, blocks: Blocks, operands: dict[str, Before], now: dict[str, Found]) -> Related:
    """The operand that a value is, or shares bytes with; else the one whose elements it was compared with."""
    for name, one in operands.items():
        if one.address == id(value):
            return Related("same object", name, 0, "", False)
    doubt: Unknown | None = None
    for name, had in operands.items():
        one = _once_there(had, now.get(name, NONE))
        found = judged(one.blocks, blocks, meetings((one.blocks, blocks)).get((0, 1), []))
        if found.overlap is False:
            found = by_file(one.blocks, blocks) or found
        if found.overlap is True:
            if not _lies_in_old(one, now.get(name, NONE), blocks):
                return Related("view", name, found.overlap_bytes, "", False)
        elif isinstance(found.overlap, Unknown):
            doubt = found.overlap
        elif one.total > len(one.blocks):
            doubt = OBJECTS if one.boxed else Unknown("not all blocks of an operand are known")
    if doubt is not None:
        return Related("unknown", "", doubt, "", False)
    apart = _apart(value, blocks, operands, now)
    file = of_file(blocks) if not apart.values else ""
    return Related("view", f"the file {file}", bytes_of(blocks), "", False) if file else apart


def _once_there(operand: Before, live: Found) -> Before:
    """An operand whose elements nobody could read before, as those of a JAX array that was being computed."""
    if operand.blocks or not operand.total or not live or id(live[0]) != operand.address:
        return operand
    blocks = elements_of(live[0])
    return replace(operand, blocks=blocks, total=len(blocks)) if blocks else operand


def _lies_in_old(operand: Before, live: Found, blocks: Blocks) -> bool:
    """Whether a value only lies where an operand's elements were before they were put into new blocks."""
    own = elements_of(live[0]) if live and id(live[0]) == operand.address else operand.blocks
    return was_replaced(operand, own) and not meetings((own, blocks)).get((0, 1))


def was_replaced(operand: Before, own: Blocks) -> bool:
    """Whether an operand put its elements into new blocks meanwhile, as polars does to join chunks."""
    has_all = bytes_of(own) == bytes_of(operand.blocks)
    return has_all and not meetings((own, operand.blocks)).get((0, 1))


def _apart(value: Any, blocks: Blocks, operands: dict[str, Before], now: dict[str, Found]) -> Related:
    """Of a value with none of the operands' bytes: the operand that has its elements, else the first one."""
    found: list[Related] = []
    given: dict[str, Blocks] = {}
    for name, one in operands.items():
        if one.items:
            return found[0] if found else Related("apart", name, 0, "", False)
        if (live := now.get(name, NONE)) and id(live[0]) == one.address:
            found.append(_compared(name, live[0], value))
            own = one.blocks if all(block.numeric for block in one.blocks) else elements_of(live[0])
            given[name] = (*own, *_referred(live[0]))  # objects are read where they are now
            if found[-1].values == "equal":
                return found[-1]
            if is_cast(one.blocks, blocks):
                return replace(found[-1], values="equal", compared_all=False)
    if not found:
        return Related("apart", "", 0, "", False)
    first = found[0] if all(one.values for one in found) else replace(found[0], values="")
    return _in_runs(blocks, operands, now) or among(first, blocks, given)


def _in_runs(blocks: Blocks, operands: dict[str, Before], now: dict[str, Found]) -> Related | None:
    """Of bytes: the operand whose bytes they are, or hold; None if they are no operand's."""
    held = ((name, now.get(name, NONE), had.address) for name, had in operands.items())
    live = [
        (name, elements_of(found[0])) for name, found, address in held if found and id(found[0]) == address
    ]
    pairs = {(one.address, one.size): (name, one) for name, some in live for one in some}
    few = len(blocks) == 1 and len(pairs) <= MOST_ITEMS
    found = [pair for pair in pairs.values() if few and _are_bytes(blocks[0], pair[1])]
    runs = held_in(blocks[0], tuple(one for _, one in found)) if found else ()
    if not runs:
        return None
    size, whole = sum(one.bytes for one in runs), blocks[0].range.bytes
    sure = all(one.is_whole for one in runs)
    return Related("apart", found[runs[0].of][0], size if size < whole else 0, "equal", sure)


def put_into(blocks: Blocks, others: dict[str, Blocks]) -> tuple[int, str, bool]:
    """(bytes, name, all compared) of the object whose elements an array has as a whole since a statement;
    (0, "", False) if none is known. `others`: blocks of objects that live."""
    for name, some in others.items():
        if len(blocks) != 1 or len(some) != 1 or meetings((blocks, some)).get((0, 1)):
            continue
        alike = like_one_of(blocks[0], some)
        if alike is not False or cast_of(some[0], blocks[0]):
            return blocks[0].range.bytes, name, alike is True
        runs = held_in(blocks[0], some)
        if runs and runs[0].bytes >= some[0].range.bytes:
            return runs[0].bytes, name, runs[0].is_whole
    return 0, "", False


def _are_bytes(made: Elements, one: Elements) -> bool:
    """Whether one of two blocks is bytes, as those of a message, and no array."""
    return any(block.itemsize_bytes == 1 and block.protocol == "buffer" for block in (made, one))


def _referred(operand: Any) -> Blocks:
    """The values that an operand's own numbers refer to: categories."""
    adapter = adapter_of(type(operand))
    return adapter.referred(operand) if adapter is not None else ()


def among(first: Related, blocks: Blocks, held: dict[str, Blocks]) -> Related:
    """Of a value that is no operand's in pairs: whether its blocks have elements of any operand's."""
    held = {name: in_fields(some) for name, some in held.items()}
    given, blocks = sum(held.values(), ()), in_fields(blocks)
    telling = [one for one in blocks if kind_of(one) != "truths" and one.format != OFFSETS] or list(blocks)
    telling = [one for one in telling if one.size > 1] or telling
    if any(kind_of(one) != "truths" for one in given):  # which values are there, and where, is no value
        placing = tuple(one for one in given if one.format == OFFSETS)
        if len(blocks) == 1 and like_one_of(blocks[0], placing):  # unless they were asked for
            return replace(first, values="equal", compared_all=True)
        given = tuple(one for one in given if one.format not in ("bits", OFFSETS))
    said = [found_in(block, given) for block in telling[:CHUNKS]]
    if not HAS.isdisjoint(said):
        said += [found_in(block, given) for block in telling[CHUNKS:MOST_ITEMS]]
        whole = {*said} == {"whole"} and len(said) == len(blocks)
        having = [one for one, how in zip(telling, said, strict=False) if how in HAS]
        names = (name for name, some in held.items() if found_in(having[0], some) in HAS)
        left = [one for one, how in zip(telling, said, strict=False) if _is_told(one) and how not in HAS]
        part = bytes_of(blocks) - bytes_of(tuple(left)) if left else 0
        pairs = [(one, how) for one, how in zip(telling, said, strict=False) if one in left]
        others = tuple(one for one, how in pairs if how in ("some", "none"))
        return Related("apart", next(names, first.of), part, "equal", whole, others)
    none = {*said} == {"none"} and len(telling) <= CHUNKS
    if none or "some" in said or _are_others(blocks, given):
        return replace(first, values="different", compared_all=none or _are_truths(blocks, given))
    return replace(first, compared_all=first.compared_all and first.values != "different")


def _is_told(block: Elements) -> bool:
    """Whether its elements can be looked for: bytes, objects and one number many times prove nothing."""
    return block.numeric and block.itemsize_bytes > 1 and not uniform((block,))


def part_like(block: Elements, given: Blocks) -> bool | None:
    """Whether a block has the elements of one of these: True, None by sample or in another type, False."""
    like = {"whole": True, "all": None}
    return like.get(found_in(block, given), None if is_cast(given, (block,)) else False)


def found_in(block: Elements, given: Blocks) -> str:
    """ "whole": a block has the elements of one of these, all compared; else as `chosen_from` says."""
    alike = like_one_of(block, given)
    alike = like_channels(block, given) if alike is False else alike
    alike = None if alike is False and _has_bytes(block, given) else alike
    return "whole" if alike else "all" if alike is None else chosen_from(block, given)


def _has_bytes(block: Elements, given: Blocks) -> bool:
    """Whether the bytes, by sample, are those of a block of another type: `np.fromstring(ints)` of floats."""
    others = [one for one in given if one.range.bytes == block.range.bytes and kind_of(one) != kind_of(block)]
    mine = sampled((block,)) if others and not uniform((block,)) else 0
    return mine != 0 and any(sampled((one,)) == mine for one in others)


def _are_truths(blocks: Blocks, given: Blocks) -> bool:
    """Whether they are truths, as bytes or as bits, of what is none."""
    own, theirs = ({kind_of(one) for one in some} for some in (blocks, given))
    if own == {"truths"}:
        return theirs != own and not any(like_one_of(one, given) for one in blocks)
    numbers = max((one.size for one in given if one.itemsize_bytes > 1), default=0)
    bits = own == {"bytes"} and all(8 * one.size <= numbers + 8 * ROUNDED for one in blocks)
    return bits and numbers > 8 * ROUNDED and "bytes" not in theirs


def _are_others(blocks: Blocks, given: Blocks) -> bool:
    """Whether the types alone say that no element is an operand's: truths of what is none; numbers of
    another type, whose casts were compared already."""
    if _are_truths(blocks, given):
        return True
    own, theirs = ({kind_of(one) for one in some} - {"truths", "bytes"} for some in (blocks, given))
    paired = {one.size for one in blocks} <= {one.size for one in given}
    return paired and bool(own and theirs) and "" not in own | theirs and not own & theirs


def woven(value: Any, operand: Before | None, blocks: Blocks) -> int:
    """How many columns of a table a matrix has; 1 for anything else, also for another table."""
    is_matrix = len(blocks) == 1 and len(blocks[0].shape) == 2
    if operand is None or operand.columns < 2 or not is_matrix:
        return 1
    adapter = adapter_of(type(value))
    is_table = adapter is not None and adapter.columns(value, 0) is not None
    return 1 if is_table else blocks[0].shape[1]


def apart_from(value: Any, blocks: Blocks, operand: Before) -> Blocks:
    """The blocks of a value, of a table column by column, that meet none of an operand's; () where not all
    blocks are known."""
    if operand.total > len(operand.blocks) or isinstance(size_of(value, blocks), Unknown):
        return ()
    columns = tuple(block for _, part in parts_of(value) for block in part)
    pieces = columns if bytes_of(columns) == bytes_of(blocks) else blocks
    met = {id(mine) for _, mine in meetings((operand.blocks, pieces)).get((0, 1), [])}
    left = tuple(one for one in pieces if id(one) not in met and one.range.bytes)
    return left if met else ()  # else they share a file, at other addresses


def apart_of(blocks: Blocks, other: Before) -> Blocks:
    """Those of some blocks that meet none of another operand's."""
    met = {id(mine) for _, mine in meetings((other.blocks, blocks)).get((0, 1), [])}
    return tuple(one for one in blocks if id(one) not in met)


def names_of(value: Any, blocks: Blocks) -> str:
    """The columns or keys of a value that have some of these blocks."""
    starts = {one.range.start for one in blocks}
    found = (name for name, part in parts_of(value) if starts & {one.range.start for one in part})
    return ", ".join(islice(found, MOST_NAMED)) or "other parts"


def parts_of(value: Any) -> Iterator[tuple[str, Blocks]]:
    """The columns of a table, or the items of a dict, list or tuple, with their blocks."""
    if _native.exactly(value, *DICTS):
        yield from ((str(key) if type(key) is str else "", elements_of(one)) for key, one in value.items())
    elif _native.exactly(value, list, tuple):
        yield from ((f"[{at}]", elements_of(one)) for at, one in enumerate(value[:MOST_ITEMS]))
    elif (adapter := adapter_of(type(value))) is not None:
        table = adapter.columns(value, MOST_ITEMS)
        if table is None and adapter.library == "xarray":
            yield from ((name, elements_of(one)) for name, one in islice(adapter.parts(value), MOST_ITEMS))
        yield from ((one.name, one.elements) for one in (table[0] if table is not None else ()))


def _compared(name: str, operand: Any, value: Any) -> Related:
    said, whole = made_from(_native.Subject(operand), _native.Subject(value))
    return Related("apart", name, 0, said, whole)


def places_of(operand: Before) -> tuple[Range, ...]:
    """Where the first blocks of an operand lay; of a list of Python objects where the list itself did."""
    own = (Range(Address(operand.address), Address(operand.address + 1)),)
    return own if operand.items else ranges_of(operand.blocks)
