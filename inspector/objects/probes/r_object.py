"""An object of the R in this process: header, elements, lazy state and holders, read and never converted."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from inspector.facts.lazy_trace import LazyVector
from inspector.facts.r_object import RMemory, RNamed, RObject
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layouts import r_altrep, r_elements, r_vectors
from inspector.objects.layouts.r_calls import given_by_r
from inspector.objects.layouts.r_objects import (
    CALL,
    CLOSURE,
    DATA,
    ENVIRONMENT,
    ITEM_BYTES,
    LIST,
    NOT_MUTABLE,
    SYMBOL,
    Header,
    bindings,
    header,
    pairs,
    symbol_name,
)

WORDS = {
    0: "NULL", 1: "symbol", 2: "pairlist", 3: "closure", 4: "environment", 5: "promise", 6: "language",
    7: "special", 8: "builtin", 10: "logical", 13: "integer", 14: "double", 15: "complex", 16: "character",
    19: "list", 20: "expression", 21: "bytecode", 22: "externalptr", 23: "weakref", 24: "raw", 25: "S4",
}  # fmt: skip
VALUES, NAMES, ITEMS, REACHED = 6, 64, 1_000, 20_000
"""Elements shown, names of R's memory, items of a list that are looked at, objects that are counted."""
CALLS = 4
"""Calls within calls that are written."""


def r_object(
    address: int,
    own_references: int,
    environments: Sequence[tuple[str, int]],
    shared_with: Iterable[str] = (),
) -> RObject:
    """The fact of the R object at an address; `own_references`: the call's own, left out of REF.

    `environments`: (words, address) of each environment that is looked in for holders.
    """
    found = header(address)
    if found is None:
        raise ValueError("no object of R can be read there")
    count = r_altrep.length(found)
    lazy = r_altrep.state(found) if found.altrep else Unknown("it is a plain object")
    fixed = found.references == NOT_MUTABLE
    return RObject(
        type=WORDS.get(found.type, "object"),
        length=count,
        address=Address(address),
        bytes=r_altrep.own_bytes(found),
        deep_bytes=reached([address])[0],
        elements_bytes=0 if isinstance(count, Unknown) else count * ITEM_BYTES.get(found.type, 0),
        references=found.references if fixed else max(found.references - own_references, 0),
        not_mutable=fixed,
        attributes=tuple(r_vectors.attributes(found)),
        values=tuple(_values(found)),
        lazy=lazy,
        held_by=tuple(_holders(address, environments)),
        looked_in=len(environments),
        shared_with=tuple(shared_with),
        classes=tuple(r_elements.classes(found)),
    )


def before_conversion() -> tuple[str, RObject] | None:
    """(text, fact) of the R value that reticulate converted for the running call; None: it did not."""
    return given_by_r(lambda address, text: (text, r_object(address, 0, ())))


def elements_span(address: int) -> tuple[int, int] | None:
    """(start, stop) of the elements that are in memory; None where there are none."""
    found = header(address)
    plain = r_vectors.plain_of(found) if found is not None else None
    if plain is None or not plain.first:
        return None
    return plain.address + DATA, plain.address + DATA + plain.first * ITEM_BYTES[plain.type]


def _values(found: Header) -> Iterator[str]:
    plain = r_vectors.plain_of(found)
    if found.type in (LIST, 20):
        yield from _kinds(found)
    elif found.type == CLOSURE:
        yield from _arguments(found)
    elif found.type == CALL:
        yield _written(found, CALLS)
    elif found.type == ENVIRONMENT:
        yield from _first(name for name, _ in bindings(found))
    elif plain is not None:
        yield from r_elements.shown(found, range(min(plain.first, VALUES)))
    if plain is not None and plain.first > VALUES:
        yield "…"


def _first(texts: Iterable[str]) -> Iterator[str]:
    for at, text in enumerate(texts):
        yield text if at < VALUES else "…"
        if at == VALUES:
            return


def _arguments(closure: Header) -> Iterator[str]:
    """A function's arguments as they were declared: "a", "b=2"."""
    for cell in pairs(closure.first):
        value, name = header(cell.first), symbol_name(cell.third)
        default = _written(value, CALLS) if value is not None else "?"
        yield f"{name}={default}" if default else name


def _written(found: Header, depth: int) -> str:
    """A call, a symbol or one value in R's own syntax, operators before what they work on."""
    if found.type == SYMBOL:
        return symbol_name(found.address)
    if found.type != CALL:
        one = (
            found.first == 1
            and not found.altrep
            and found.type in ITEM_BYTES
            and found.type not in (LIST, 20)
        )
        return next(iter(r_elements.shown(found, range(1)))) if one else WORDS.get(found.type, "object")
    function, *rest = pairs(found.address)
    name = header(function.first)
    called = "?" if name is None else _written(name, depth - 1) if depth else "…"
    if name is not None and name.type == SYMBOL and not called.replace(".", "").replace("_", "").isalnum():
        called = f"`{called}`"
    if called == "function":
        return "function(…)"
    return f"{called}({', '.join(_given(one, depth - 1) if depth else '…' for one in rest)})"


def _given(cell: Header, depth: int) -> str:
    """An argument of a call, with its name where it has one."""
    value, tag = header(cell.first), header(cell.third)
    name = f"{symbol_name(tag.address)}=" if tag is not None and tag.type == SYMBOL else ""
    return name + ("?" if value is None else _written(value, depth))


def _kinds(found: Header) -> Iterator[str]:
    """The items of a list by name and type: "a=double(3)"."""
    pointers = (r_vectors.elements(found) or ())[:VALUES]
    names = r_vectors.texts(r_vectors.attributes(found).get("names"), VALUES)
    for at, address in enumerate(pointers):
        one = header(int(address))
        if one is not None:
            count = r_altrep.length(one)
            size = "" if isinstance(count, Unknown) else f"({count:,})"
            name = f"{names[at]}=" if at < len(names) and names[at] else ""
            yield f"{name}{WORDS.get(one.type, 'object')}{size}"


def _holders(address: int, environments: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Names bound to the object, and items of the lists that names are bound to."""
    for words, where in environments:
        held = header(where)
        if held is None or held.type != ENVIRONMENT:
            continue
        ending = f" in {words}" if words else ""
        for name, value in bindings(held):
            if value == address:
                yield name + ending
            elif (one := header(value)) is not None and one.type == LIST and not one.altrep:
                yield from (f"{name}{item}{ending}" for item in _items(one, address))


def _items(held: Header, address: int) -> Iterator[str]:
    """How the items of a list that are the object are written."""
    pointers = r_vectors.elements(held)
    for at, value in enumerate((pointers or ())[:ITEMS]):
        if value == address:
            names = r_vectors.texts(r_vectors.attributes(held).get("names"), at + 1)
            yield f"${names[at]}" if at < len(names) and names[at] else f"[[{at + 1}]]"


def reached(roots: Iterable[int], seen: set[int] | None = None) -> tuple[int | Unknown, set[int]]:
    """(bytes of all objects that values reach, each once; their addresses). An environment is not entered."""
    total, known, waiting = 0, set() if seen is None else seen, list(roots)
    while waiting:
        address = waiting.pop()
        if address in known or (found := header(address)) is None or found.type in (0, 1):
            continue
        known.add(address)
        has_items = found.type in (LIST, 16, 20) and not found.altrep
        if len(known) > REACHED or (has_items and found.first > REACHED):
            return Unknown(f"it reaches more than {REACHED:,} objects"), known
        total += r_altrep.own_bytes(found)
        if found.type == ENVIRONMENT:
            continue
        held = r_vectors.attributes(found)
        total += r_altrep.CELL * len(held)
        waiting += [one.address for one in held.values()]
        if has_items:
            waiting += {int(one) for one in r_vectors.elements(found) or ()}
    return total, known


def r_memory(environment: int, resident: int | Unknown) -> RMemory:
    """The names of an environment, the largest first."""
    held = header(environment)
    rows = [] if held is None else [(name, value) for name, value in bindings(held) if header(value)]
    named = [RNamed(name, r_object(value, 0, ())) for name, value in rows if not name.startswith(".")]
    named.sort(key=lambda one: -_deep(one.object))
    total, _ = reached(value for _, value in rows)
    whole = sum(_deep(one.object) for one in named) if isinstance(total, Unknown) else total
    return RMemory(tuple(named[:NAMES]), max(len(named) - NAMES, 0), whole, resident)


def lazy_names(environment: int) -> dict[str, tuple[int, LazyVector, bool]]:
    """Name -> (address, vector, whether all is made) of the lazy vectors that an environment's names hold."""
    held, seen = header(environment), dict[str, tuple[int, LazyVector, bool]]()
    for name, value in bindings(held) if held is not None else ():
        found = header(value)
        if found is None or not found.altrep or found.type not in ITEM_BYTES:
            continue
        lazy, count = r_altrep.state(found), r_altrep.length(found)
        if not (lazy.package == "base" and lazy.class_name.startswith("wrap_")):
            known = -1 if isinstance(count, Unknown) else count
            size = max(known, 0) * ITEM_BYTES[found.type]
            kind = WORDS.get(found.type, "vector")
            vector = LazyVector(name, lazy.class_name, lazy.package, kind, known, size)
            seen[name] = (value, vector, lazy.made == "all")
    return seen


def _deep(one: RObject) -> int:
    return one.bytes if isinstance(one.deep_bytes, Unknown) else one.deep_bytes
