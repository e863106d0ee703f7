"""What the object holds: a container, a callable, a paused generator, an exception's traceback."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector.facts.amounts import counted, size, with_article
from inspector.facts.answers import Answer
from inspector.facts.contents import CommonBase, Contents
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import LEAST_KEPT_BYTES, answer, code, known, listed, number

Facts = Mapping[str, Any]
LET_GO = "with_traceback(None)"
"""The method of an exception that drops its traceback."""
LEAST_BEHIND_BYTES: Final = 65_536
"""Of less that is kept behind a container's arrays nothing is said."""


def kept(facts: Facts, before: str, after: str = "") -> str:
    """What it holds between two texts, where that is worth a sentence; else ""."""
    fact = known(facts, "contents")
    if fact is None or fact.bytes < LEAST_KEPT_BYTES:
        return ""
    return f"{before}{'' if fact.complete else 'more than '}{size(fact.bytes)}{after}"


def weight(facts: Facts) -> Iterator[Answer]:
    """What a container weighs with all that it holds."""
    held, found = known(facts, "contents"), known(facts, "object")
    if held is None or found is None or isinstance(found.size_bytes, Unknown):
        return
    if getattr(known(facts, "materialization"), "waits_for", ""):
        return
    if "BaseException" in found.type_mro:
        yield from _traceback(held)
        return
    if any(base in found.type_mro for base in ("module", "type")):
        yield from _names(held, "globals" if "module" in found.type_mro else "attributes")
        return
    kept = known(facts, "autograd")
    whole = number(kept.retained_bytes) if kept is not None else 0
    behind = held.behind_bytes if held.complete and not whole else 0  # a graph's whole has it
    shown = found.size_bytes + held.bytes
    total = max(shown + behind, whole)
    inside = _inside(held, total) if held.complete else ""
    opaque = () if whole else held.opaque[:3]
    if opaque:
        unknown = f"; what C code keeps for {listed(map(code, opaque))} is not known"
        text = f"At least {size(total)} in all{inside}{unknown}."
    elif held.complete:
        text = f"{size(total)} in all{inside}."
    else:
        text = (
            f"More than {size(total)} in all{inside}: {counted(held.objects, 'object')} inside were counted."
        )
    if behind >= max(shown // 100, LEAST_BEHIND_BYTES):
        text += f" Of that its arrays keep {size(behind)} which they do not show."
    alike = f"{said} " if (said := _one_for_all(held, found.length)) else ""
    yield answer("weight", f"{alike}{text}", "object.size_bytes", "contents.bytes", costs_bytes=total)


def _names(held: Contents, names: str) -> Iterator[Answer]:
    """What the globals of a module, the attributes of a class keep."""
    if held.bytes >= LEAST_KEPT_BYTES:
        least = "" if held.complete else "more than "
        inside = _inside(held, held.bytes) if held.complete else ""
        text = f"Its {names} keep {least}{size(held.bytes)}{inside}."
        yield answer("keeps-names", text, "contents", costs_bytes=held.bytes)


def _inside(held: Contents, total: int) -> str:
    """Which part of the bytes arrays have, or one attribute that has nearly all."""
    most = next(iter(held.items), None)
    if most is None or most.key[:1] == "[" or most.bytes <= 0.95 * total:
        share, arrays = _share(held.arrays_bytes, total), counted(held.arrays, "array")
        return f", {share} in {arrays}" if held.arrays_bytes else ""
    its = f"its {code(most.key)}" if most.key else ""
    if most.arrays > 1:
        return f", nearly all in {counted(most.arrays, 'array')}{f' of {its}' if its else ''}"
    return f", nearly all in {its}{': ' if its else ''}{with_article(most.what)}"


def _one_for_all(held: Contents, length: int | Unknown) -> str:
    """A list whose items are one list, a default value that is a list, views of one array."""
    if held.base:
        return _of_one_base(held.base[0], held.arrays)
    for item in held.items:
        kind = item.what.partition(" ")[0]
        if item.key.endswith("="):
            return f"Its default of {code(item.key[:-1])} is one {item.what} for all calls."
        if item.places == length and item.places > 1 and kind in ("list", "dict", "set"):
            return f"Its {item.places:,} items are one and the same {kind}: a change of it is seen in all."
    return ""


def _of_one_base(base: CommonBase, arrays: int) -> str:
    """Which of its arrays are views of which."""
    if base.views == 1:
        seen = ": a write through one is seen in the other" if base.writable else ""
        return f"One of its 2 arrays is a view of the other{seen}."
    who = f"Its {arrays:,} arrays" if base.views == arrays else f"{base.views:,} of its {arrays:,} arrays"
    kind, amount = base.what.partition(" ")[0], f" of {size(base.bytes)}" if base.bytes else ""
    if base.name:
        changes = f": writing to one changes {code(base.name)}" if base.writable else ""
        return f"{who} are views of {code(base.name)}{changes}."
    return f"{who} are views of {'one' if base.views == arrays else 'another,'} {kind}{amount}."


def _share(part: int, whole: int) -> str:
    return "nearly all" if part > 0.95 * whole else f"{size(part)} of it"


def _traceback(held: Contents) -> Iterator[Answer]:
    """What an exception keeps: variables of the functions that its traceback names, and its attributes."""
    if held.bytes < LEAST_KEPT_BYTES or not held.items:
        return
    most = held.items[0]
    variable, _, function = most.key.partition(" of ")
    if not function:
        text = f"Keeps {size(most.bytes)} as its {code(most.key)}: {with_article(most.what)}."
        yield answer("exception-keeps", text, "contents", costs_bytes=most.bytes)
        return
    where = f"{_share(most.bytes, held.bytes)} in {code(variable)} of {code(function)}"
    least = "" if held.complete else "more than "
    text = (
        f"Its traceback keeps {least}{size(held.bytes)} of variables, {where}; {code(LET_GO)} lets them go."
    )
    yield answer("traceback-keeps", text, "contents", do=LET_GO, costs_bytes=held.bytes)
