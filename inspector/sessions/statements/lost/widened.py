"""Integers that became floats on the way, which have no room for all their digits: in a left join, a row of
a frame, `reindex`, where no call shows both sides and the rows may stand elsewhere.

A float of the result that is exactly the nearest one to an integer of an operand, and that no operand had,
is that integer without its last digits.
"""

# SPDX-License-Identifier: MIT
import ast
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, Final

from inspector import _native
from inspector.adapters.formats import letter
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.objects.sharing.meetings import Blocks
from inspector.objects.sharing.values import gathered
from inspector.sessions.statements.converted import site
from inspector.sessions.statements.elements import elements_of
from inspector.sessions.statements.syntax import integer, tree
from inspector.sessions.statements.values import Before, named

MOST_BYTES: Final = 1 << 18
"""Of longer blocks nothing is said."""
MOST_BLOCKS: Final = 16
MOST_NAMED: Final = 64
_EXACT: Final = 1 << 53
"""Every smaller integer is a double (IEEE 754, binary64)."""


def integers(blocks: Blocks) -> Any:
    """The integers of 8 bytes in some blocks that no double is; None if there are none."""
    np: Any = sys.modules.get("numpy")
    found = () if np is None else _arrays(blocks, "qQlL", np)
    inexact = [one[_is_inexact(one, np)] for one in found]
    return np.concatenate(inexact) if any(one.size for one in inexact) else None


def replaced(written: Written, operands: dict[str, Blocks]) -> dict[str, Any]:
    """Operand -> its integers, of a statement that assigns to items or binds an operand's name anew."""
    items = written.kind == "assign" and (not written.targets or "[" in "".join(written.targets))
    is_gone = items or not operands.keys().isdisjoint(written.targets)
    return {name: integers(blocks) for name, blocks in operands.items()} if is_gone else {}


def lost_digits(
    written: Written,
    whole: dict[str, Any],
    operands: dict[str, Before],
    now: dict[str, Any],
    new: list[Any],
    frame: FrameType,
) -> Iterator[Loss]:
    """Integers that are floats in what a statement bound, or in an operand whose items it assigned.

    `whole`: as `replaced` gave it; `now`: what the operands' names have after the statement; `new`: the
    objects that it bound.
    """
    gone = {name for name, had in operands.items() if id(now.get(name)) != had.address}
    if any(_has_floats(operands[name].blocks) for name in gone):
        return  # that the floats were not in it cannot be told any more
    given = [had.blocks for name, had in operands.items() if name not in gone]
    changed = [now[name] for name in whole if name not in gone]
    made = [some for some in map(elements_of, (*new, *changed)) if _has_floats(some)]
    if not made:
        return
    for one in (*(whole.values() if whole else map(integers, given)), _in_text(written, frame)):
        for blocks in made if one is not None else ():
            yield from _widened(written, one, given, blocks)


def _in_text(written: Written, frame: FrameType) -> Any:
    """The ints of 8 bytes that no double is, which a statement's text has as numbers, or by names of ints and
    short lists of them; None if there are none."""
    held = [found[0] for name in written.names if (found := named(frame, name))]
    lists = (some for some in held if _native.exactly(some, list, tuple) and len(some) <= MOST_NAMED)
    items = [one for some in lists for one in some]
    ints = [one for one in (*_constants(written.text), *held, *items) if type(one) is int]
    large = [one for one in ints if _EXACT < abs(one) < 1 << 63 and int(float(one)) != one]
    np: Any = sys.modules.get("numpy")
    return np.array(large, "q") if large and np is not None else None


@lru_cache(1024)
def _constants(text: str) -> tuple[Any, ...]:
    """The numbers of a statement, `10**16 + 1` as one."""
    whole = tree(text)
    found = map(integer, ast.walk(whole)) if whole is not None else ()
    return tuple(one for one in found if one is not None)


def _has_floats(blocks: Blocks) -> bool:
    return any(letter(one.typestr) == "d" for one in blocks)


def _widened(written: Written, integers: Any, given: Iterable[Blocks], made: Blocks) -> Iterator[Loss]:
    """At most one loss: integers of an operand that are floats in what a statement made of it.

    `given`: the blocks of all operands.
    """
    np: Any = sys.modules["numpy"]
    near = integers.astype("d")
    for blocks in given:
        for one in _arrays(blocks, "d", np):
            integers, near = (some[~np.isin(near, one)] for some in (integers, near))
    floats = list(_arrays(made, "d", np))
    lost = sum(int(np.isin(one, near).sum()) for one in floats)
    if lost:
        at = next(n for n, one in enumerate(near) if any((some == one).any() for some in floats))
        pair, total = (repr(integers[at].item()), repr(near[at].item())), sum(map(len, floats))
        yield Loss("precision", "", *pair, 0, lost, total, total, 1, "by sample", site(written))


def _is_inexact(found: Any, np: Any) -> Any:
    """Which have more than 53 bits between the highest and the lowest that is set."""
    size = np.abs(found).astype("Q")
    return (size > _EXACT) & (size // np.maximum(size & (~size + 1), 1) >= _EXACT)


def _arrays(blocks: Blocks, kinds: str, np: Any) -> Iterator[Any]:
    for one in blocks[:MOST_BLOCKS]:
        kind = letter(one.typestr) if one.numeric and one.size else ""
        raw = gathered(one, "C", MOST_BYTES) if kind and kind in kinds else None
        if raw is not None:
            yield np.frombuffer(raw, kind)
