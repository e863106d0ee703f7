"""Rules about two objects with bytes in common: the same, a view, both views, one file, some bytes."""

# SPDX-License-Identifier: MIT
from dataclasses import replace

from inspector.facts.answers import Answer
from inspector.facts.buffer import Holder
from inspector.facts.comparison import Comparison, Side, Strided
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import code
from inspector.verdicts.pairs.index_map import IndexMap, index_map
from inspector.verdicts.pairs.words import answer, sentences, shared, short

INDEXED = ("ndarray", "memmap", "memoryview", "bytearray", "bytes", "array", "mmap", "Tensor", "Series")
"""Types whose elements are written `x[i]`; one of pandas by position: `x.iloc[i]`."""


def same_object(found: Comparison) -> Answer | None:
    """`a` and `b` are two names of one object."""
    left, right = found.sides
    if found.same_object is not True:
        return None
    kind = short(left.type_name)
    said = f"The same object: {code(left.name)} and {code(right.name)} are two names of one {kind}."
    return answer("same-object", said, found, ("comparison.same_object",))


def view_of(found: Comparison) -> Answer | None:
    """One of them keeps its bytes in the other."""
    if found.sharing.overlap is not True or found.sharing.file:
        return None
    for view, owner in (found.sides[::-1], found.sides):
        held = {holder.address for holder in view.holders}
        through = owner.address in held or (_keeps(owner, view) and not view.holds_arrays)
        if through and view.owns is not True:
            what = "is a view of" if view.type_name != owner.type_name or _is_array(view) else "shares with"
            said = f"{code(view.name)} {what} {code(owner.name)}"
            evidence = ("comparison.sides.holders", "comparison.sharing.overlap")
            return shared("view-of", said, found, evidence)
    return None


def _keeps(owner: Side, view: Side) -> bool:
    """Whether an object such as a Series keeps the array that the other is a view of."""
    held = {holder.address for holder in view.holders} | {view.address}
    return owner.holds_arrays and any(holder.address in held for holder in owner.holders)


def _is_array(side: Side) -> bool:
    return not side.holds_arrays


def siblings(found: Comparison) -> Answer | None:
    """Both have their bytes from one third object."""
    said = of_one(found)
    if not said or found.sharing.overlap is not True or found.sharing.file:
        return None
    evidence = ("comparison.sides.holders", "comparison.sharing.overlap")
    return shared("views-of-one", said, found, evidence)


def of_one(found: Comparison) -> str:
    """As in "Both are views of `x`", which owns the bytes of both; "" if there is no such object."""
    root = common_root(found)
    if root is None:
        return ""
    named = root.name != root.type_name
    of = code(root.name) if named else f"one {short(root.type_name)}"
    lone = "" if named or not _unnamed(root, found.sides) else " that no name holds"
    keeping = any(side.holds_arrays for side in found.sides)
    return f"{'Both share the memory of' if keeping else 'Both are views of'} {of}{lone}"


def common_root(found: Comparison) -> Holder | None:
    """The owner at the end of both chains of bases, if it is one object."""
    ends = [side.holders[-1] for side in found.sides if side.holders]
    same = len(ends) == 2 and ends[0].address == ends[1].address
    return ends[0] if same and all(len(side.blocks) <= 1 for side in found.sides) else None


def _unnamed(root: Holder, sides: tuple[Side, ...]) -> bool:
    """Whether the two views have all references to their owner."""
    direct = sum(side.holders[0].address == root.address for side in sides)
    return root.references == direct


def one_file(found: Comparison) -> Answer | None:
    """Two mappings of one file, at different addresses."""
    if not found.sharing.file:
        return None
    name = found.sharing.file.rpartition("/")[2] or found.sharing.file
    said = f"Both map {code(name)}, at two addresses"
    if not isinstance(found.sharing.overlap, Unknown):
        return shared("one-file", said, found, ("comparison.sharing.file",))
    why = f"{found.sharing.overlap.reason}, others are the file's".replace("the first", code(found.left))
    text = sentences(f"{said}; {why.replace('the second', code(found.right))}")
    return answer("one-file", text, found, ("comparison.sharing.file",), certain=False)


def overlapping(found: Comparison) -> Answer | None:
    """Some bytes belong to both; nothing says who had them first."""
    if found.sharing.overlap is not True:
        return None
    left, right = found.sides
    said = f"{code(left.name)} and {code(right.name)} share memory"
    return shared("shared-bytes", said, found, ("comparison.sharing.overlap",))


def where(found: Comparison) -> Answer | None:
    """`b[i, j]` is `a[2*j, 3*i]`; "where both have it" if neither has all elements of the other."""
    whole = mapping(found)
    row = whole or mapping(found, partly=True)
    if row is None:
        return None
    place, owner = row
    said = f"{code(place.view)} is {code(place.owner)}{f', {place.how}' if place.how else ''}"
    if place.how in ("byte", "bytes"):
        begins = "is" if place.how == "byte" else "begins at"
        said = f"{code(place.view)} {begins} byte {code(place.owner)} of {code(owner)}"
    elif place.how.startswith("byte"):
        said = f"{code(place.view)} is {place.how.replace('of it', f'of {code(place.owner)}')}"
    both = ", where both have it" if whole is None else ""
    return answer("index-map", f"{said}{both}.", found, ("comparison.sides.blocks",))


def mapping(found: Comparison, *, partly: bool = False) -> tuple[IndexMap, str] | None:
    """Where each element of one object lies in the other, and the other's name."""
    left, right = found.sides
    for view, owner in ((right, left), (left, right)):
        if not all(short(side.type_name) in INDEXED and side.total_blocks == 1 for side in (view, owner)):
            continue
        shift = found.sharing.shift_bytes if view is right else -found.sharing.shift_bytes
        block = _moved(view.blocks[0], shift)
        place = index_map(block, _indexed(view), owner.blocks[0], _indexed(owner), partly=partly)
        if place is not None:
            return place, owner.name
    return None


def _moved(block: Strided, shift: int) -> Strided:
    """The block where the same bytes of a file lie in the other mapping."""
    if not shift:
        return block
    return replace(block, address=type(block.address)(block.address + shift))


def _indexed(side: Side) -> str:
    return f"{side.name}.iloc" if side.library == "pandas" else side.name
