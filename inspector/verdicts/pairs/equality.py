"""Rules about two objects without a common byte: a copy, equal values, different values, the same items."""

# SPDX-License-Identifier: MIT
from itertools import pairwise
from math import prod

from inspector.facts.amounts import counted, size, with_article
from inspector.facts.answers import Answer
from inspector.facts.comparison import Comparison, Nested, Side, Strided, Values
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import code
from inspector.verdicts.pairs.index_map import operand
from inspector.verdicts.pairs.shared import of_one
from inspector.verdicts.pairs.words import EVERY_BYTE, answer, listed, short

EVIDENCE = ("comparison.sharing.overlap", "comparison.values")
PLURAL = ("list", "tuple", "dict", "deque")
OF_ITEMS = (*PLURAL, "Counter", "OrderedDict", "defaultdict")
MOST_TEXT = 24
"""Characters of a value in a sentence."""


def apart(found: Comparison) -> Answer | None:
    """No byte in common, and whether the values are equal."""
    if found.sharing.overlap is not False:
        return None
    values, of = found.values, of_one(found)
    none = f"{of}, with no byte in common" if of.startswith("Both are views") else "No byte in common"
    if isinstance(values, Unknown) or not values.total:
        return answer("nothing-shared", f"{none}{_sizes(found)}.", found, EVIDENCE[:1], nothing=EVERY_BYTE)
    if not values.equal:
        return answer(
            "different-values", f"{none}; {_different(found, values)}.", found, EVIDENCE, nothing=EVERY_BYTE
        )
    if values.what == "objects":
        both = listed([side.name for side in found.sides])
        said = f"{none}, but {both} refer to the same {values.total:,} objects"
        return answer(
            "same-items",
            f"{said}{_sample(values)}.",
            found,
            EVIDENCE,
            certain=_all(values),
            nothing=EVERY_BYTE,
        )
    if values.varied and not values.parts and (copy := _copy(found, values)):
        right = found.sides[1]
        costs = right.bytes if not isinstance(right.bytes, Unknown) else 0
        return answer("copy", copy, found, EVIDENCE, certain=_all(values), costs=costs, nothing=EVERY_BYTE)
    said = f"{none}; {_equal(found, values)}{_formats(found)}."
    return answer(
        "equal-values",
        said,
        found,
        EVIDENCE,
        certain=_all(values) and not values.left_out,
        nothing=EVERY_BYTE,
    )


def contents(found: Comparison) -> Answer | None:
    """Two lists, tuples or dicts with the same items."""
    values = found.values
    left, right = (short(side.type_name) for side in found.sides)
    first = with_article(left)
    kinds = f"{first[:1].upper()}{first[1:]} and {with_article(right)}"
    if left == right:
        kinds = f"Two {left}s" if left in PLURAL else f"Two {left} objects"
    same = not isinstance(values, Unknown) and values.what == "objects" and values.equal
    if not isinstance(found.nested, Unknown) and not (same and found.nested.total):
        return _nested(found, found.nested, kinds, "items" if left in OF_ITEMS else "attributes")
    if isinstance(values, Unknown) or found.sharing.overlap is False:
        return None
    if values.what == "values":
        return _plain(found, values, kinds)
    if values.equal:
        count = (
            f"object{_sample(values)}" if values.total == 1 else f"{values.total:,} objects{_sample(values)}"
        )
        said = f"{kinds} with the same {count}, as a shallow copy has."
        one, other = code(found.left), code(found.right)
        change = f"A change of {one} itself is not seen in {other}; one of an item is."
        return answer("same-items", f"{said} {change}", found, EVIDENCE[1:], certain=_all(values))
    return None


def _nested(found: Comparison, inside: Nested, kinds: str, kind: str) -> Answer:
    """Two containers with different objects: what both reach, and whether their items (`kind`) are equal."""
    certain = inside.complete and not inside.closed
    evidence = ("comparison.nested",)
    items = f" with equal {kind}" if inside.equal is True else ""
    differs = f"; the first difference is at {code(inside.first)}" if inside.first else ""
    differs = f"; one has more {kind} than the other" if inside.first == found.left else differs
    unseen = f" Inside {listed(inside.closed)} was not looked." if inside.closed else ""
    if inside.total:
        verb, one = ("is", "it") if inside.total == 1 else ("are", "one of them")
        rest = [f"{inside.total - 3:,} more"] if inside.total > 3 else []
        both = f"{listed(inside.common[:3], more=rest)} {verb} in both: a change of {one} is seen in both"
        return answer("common-items", f"{kinds}{items}; {both}{differs}.", found, evidence)
    if inside.sharing:
        left, right = inside.sharing[0]
        more = f", and {counted(len(inside.sharing) - 1, 'more pair')}" if len(inside.sharing) > 1 else ""
        both = f"{code(left)} and {code(right)} share memory{more}"
        return answer("common-bytes", f"{kinds}; {both}{differs}.", found, evidence)
    if inside.of_class:
        one = "it" if len(inside.of_class) == 1 else "one of them"
        both = f"both have {listed(inside.of_class)} of their class: a change of {one} is seen in both"
        return answer("common-items", f"{kinds}{items}; {both}{differs}.", found, evidence)
    among = "" if inside.complete else f" among the first {inside.looked:,} items of each"
    rest = [] if inside.complete else ["the other items"]
    nothing = Nothing(
        among.removeprefix(" among ") or "all that both reach",
        ", ".join([*rest, *(f"inside {kind}" for kind in inside.closed)]),
    )
    none = f"{items} and no mutable object in common" if items else "; no mutable object is in both"
    after = ": a change of one is not seen in the other" if certain else ""
    said = f"{kinds}{none}{among}{after}{differs}.{unseen}"
    return answer("no-common-items", said, found, evidence, certain=certain, nothing=(nothing,))


def _plain(found: Comparison, values: Values, kinds: str) -> Answer:
    """Two numbers or texts."""
    if values.equal:
        return answer("equal-values", f"{kinds} with equal values.", found, EVIDENCE[1:])
    pair = [text for text in (values.left, values.right) if text and len(text) <= MOST_TEXT]
    shown = f": {pair[0]} and {pair[1]}" if len(pair) == 2 else ""
    return answer("different-values", f"{kinds} with different values{shown}.", found, EVIDENCE[1:])


def item(found: Comparison) -> Answer | None:
    """One object is an item of the other: `rows[0]` is `x`."""
    if not found.inside:
        return None
    left, right = found.sides
    inner = right if found.inside.startswith((f"{left.name}.", f"{left.name}[")) else left
    said = f"{code(found.inside)} is {code(inner.name)}: the same {short(inner.type_name)}."
    return answer("item-of", said, found, ("comparison.inside",))


def not_known(found: Comparison) -> Answer | None:
    """Why it is not known whether bytes are shared."""
    why = found.sharing.overlap
    if not isinstance(why, Unknown):
        return None
    said = f"Whether they share bytes is not known: {why.reason}."
    return answer("sharing-unknown", said, found, EVIDENCE[:1], certain=False)


def _sizes(found: Comparison) -> str:
    """Sizes, where they alone say that one is no copy of the other: "; `a` has 12 elements, `b` 6"."""
    shapes = [side.blocks[0].shape if side.total_blocks == 1 else () for side in found.sides]
    left, right = found.sides
    if left.columns and right.columns:
        one, other = (f"{side.columns:,}" for side in found.sides)
        return "" if one == other else f"; {code(left.name)} has {one} columns, {code(right.name)} {other}"
    if left.columns or right.columns or not all(shapes):
        return ""
    one, other = (f"{prod(shape):,}" for shape in shapes)
    return "" if one == other else f"; {code(left.name)} has {one} elements, {code(right.name)} {other}"


def _formats(found: Comparison) -> str:
    if not all(side.total_blocks == 1 for side in found.sides):
        return ""
    one, other = (side.blocks[0].format for side in found.sides)
    return "" if one == other else f", as {one} and as {other}"


def _equal(found: Comparison, values: Values) -> str:
    if not values.parts:
        return f"equal values{_sample(values)}"
    word, count = found.sides[0].part_word, len(values.parts)
    if not values.left_out:
        of = f"all {count:,} {word}s" if count > 1 else f"{word} {listed(values.parts)}"
        return f"equal values in {of}{_sample(values)}"
    rest = f"{listed(values.left_out)} {'was' if len(values.left_out) == 1 else 'were'} not compared"
    return f"equal values in {listed(values.parts)}{_sample(values)}; {rest}"


def _sample(values: Values) -> str:
    """What was compared, where that was not everything."""
    return "" if _all(values) else f" in a sample of {values.compared:,} of {values.total:,}"


def _all(values: Values) -> bool:
    return values.compared == values.total


def _different(found: Comparison, values: Values) -> str:
    """As in "different values: first at `[3]`, 1.0 and 2.0"."""
    at = ", ".join(str(index) for index in values.first)
    where = f"first at `[{at}]`" if _all(values) else f"one at `[{at}]`"
    if not at:
        where = ""
    elif values.parts:
        where = f"{found.sides[0].part_word} {listed(values.parts)}, {where}"
    pair = [text for text in (values.left, values.right) if text and len(text) <= MOST_TEXT]
    shown = f"{pair[0]} and {pair[1]}" if len(pair) == 2 else ""
    what = "values" if values.what == "values" else "objects"
    more = ", ".join(part for part in (where, shown) if part)
    return f"different {what}: {more}" if more else f"different {what}"


def _copy(found: Comparison, values: Values) -> str:
    """For values in another shape or order: which reading of one object the other is; "" for equal shapes."""
    left, right = found.sides
    one, other = left.blocks[0], right.blocks[0]
    if one.shape == other.shape and values.left_order == values.right_order:
        return ""
    source, copy = (right, left) if values.right_order == "F" else (left, right)
    turned = "F" in (values.left_order, values.right_order)
    name = f"{operand(source.name)}.T" if turned else source.name
    flat = source.blocks[0].shape[::-1] if turned else source.blocks[0].shape
    shape = copy.blocks[0].shape
    if not _is_array(source):
        return ""
    said = f"No byte in common: {code(copy.name)} is a copy"
    if shape == flat:
        return f"{said} of {code(name)}, {_equal(found, values)}{_formats(found)}."
    how = "flattened" if len(shape) == 1 else f"reshaped to `{shape}`"
    equal = f"{_equal(found, values)}{_formats(found)}"
    return f"{said}: {code(name)} {how}, {equal}.{_why(name, source, copy, turned)}"


def _is_array(side: Side) -> bool:
    return short(side.type_name) in ("ndarray", "memmap", "Tensor")


def _why(name: str, source: Side, copy: Side, turned: bool) -> str:
    """Why flattening had to copy: the axes do not continue each other in memory."""
    if len(copy.blocks[0].shape) != 1 or not _has_breaks(source.blocks[0], turned):
        return ""
    count = "" if isinstance(copy.bytes, Unknown) else f" {size(copy.bytes)}"
    return f" {code(name)} is not contiguous, so flattening it copies{count}."


def _has_breaks(block: Strided, turned: bool) -> bool:
    """Whether one stride cannot reach all elements in this order."""
    axes = [(n, s) for n, s in zip(block.shape, block.strides_bytes, strict=True) if n > 1]
    axes = axes[::-1] if turned else axes
    return any(outer != inner * n for (_, outer), (n, inner) in pairwise(axes))
