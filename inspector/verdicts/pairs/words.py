"""The words of answers about two objects: names, amounts, and what a write does."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.comparison import Comparison, Side
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import code

EVERY_BYTE = (Nothing("all elements of both", ""),)
"""What is looked at before two objects are said to share no byte."""
MOST_NAMED = 4
"""Names in a sentence; the rest is counted."""


def listed(names: Sequence[str], most: int = MOST_NAMED, more: Sequence[str] = ()) -> str:
    """As in "`x`, `y` and `z`"; "`x`, `y` and 5 more". `more`: words that follow the names."""
    shown = [*(code(name) for name in names), *more]
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(names) - most + 1:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def short(type_name: str) -> str:
    """A type's name without its module."""
    return type_name.rpartition(".")[2] or type_name


def belong(count: int | Unknown, sides: Sequence[Side]) -> str:
    """As in "1.3 MB belong to both"; "all 8.0 MB belong to both" where neither has more."""
    if isinstance(count, Unknown):
        return ""
    whole = all(side.bytes == count for side in sides)
    verb = "belongs" if count == 1 else "belong"
    return f"{'All ' if whole and count > 1 else ''}{size(count)} {verb} to both"


def written(left: Side, right: Side) -> str:
    """What the other sees when one is written; "" where it is not known."""
    kinds = {left.writing, right.writing}
    if kinds == {"in place"}:
        return "a write through one is seen in the other"
    if kinds == {"refused"}:
        return "both are read-only"
    if kinds == {"copies"}:
        return "the first write to either copies (copy-on-write), and the other keeps its values"
    if len(kinds) == 1:
        return ""
    one, other = (left, right) if left.writing == "in place" else (right, left)
    if one.writing == "in place":
        after = {
            "refused": f", and {code(other.name)} is read-only",
            "copies": f"; the first write to {code(other.name)} copies (copy-on-write)",
        }
        return f"writing to {code(one.name)} changes {code(other.name)}{after.get(other.writing, '')}"
    if "copies" in kinds:
        copying = next(side for side in (left, right) if side.writing == "copies")
        return f"the first write to {code(copying.name)} copies (copy-on-write)"
    return ""


def sentences(*parts: str) -> str:
    """Parts as one sentence that ends with a full stop; empty ones are left out."""
    said = "; ".join(part for part in parts if part)
    return f"{said[0].upper()}{said[1:]}." if said and said[0].islower() else f"{said}." if said else ""


def answer(
    slug: str,
    said: str,
    found: Comparison,
    evidence: tuple[str, ...],
    *,
    certain: bool = True,
    costs: int = 0,
    do: str = "",
    nothing: tuple[Nothing, ...] = (),
) -> Answer:
    """An answer about the objects of a comparison."""
    about = tuple(side.name for side in found.sides)
    return Answer(slug, said, certain, about, evidence, do, costs, nothing)


def shared(slug: str, said: str, found: Comparison, evidence: tuple[str, ...]) -> Answer:
    """A sentence with the bytes that both have, and what a write does."""
    count = found.sharing.overlap_bytes
    more = sentences(belong(count, found.sides), written(*found.sides))
    costs = 0 if isinstance(count, Unknown) else count
    return answer(slug, f"{said}. {more}".rstrip(), found, evidence, costs=costs)
