"""Strategies for any fact class, made from its annotations: what a round trip is tried on."""

# SPDX-License-Identifier: MIT
import dataclasses
import types
import typing
from typing import Any

from hypothesis import strategies as st

from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown
from inspector.facts.wire import field_types

PLAIN = {
    str: st.text(max_size=12),
    int: st.integers(-(2**70), 2**70),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
}

WORDS: dict[str, dict[str, Any]] = {
    "AccountRow": {"kind": "mapped"},
    "Grown": {"kind": "mapped"},
    "Hits": {"at_startup": 0, "of_python": 0},
    "NameChange": {"change": "kept"},
}
"""Fields whose words are few, or decide which view draws the fact."""


def values(annotation: Any, inside: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values that a field with this annotation may have; none in a fact of its own class."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return st.one_of([values(choice, inside) for choice in typing.get_args(annotation)])
    if annotation is Address:
        return st.integers(0, 2**64 - 1)
    if annotation is ImmortalType:
        return st.just(Immortal)
    if annotation is Unknown:
        return st.builds(Unknown, st.text(min_size=1, max_size=12))
    if dataclasses.is_dataclass(annotation):
        return st.deferred(lambda: facts(annotation, inside))
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is tuple:
        if arguments[-1] is Ellipsis:
            if arguments[0] in inside:
                return st.just(())
            return st.lists(values(arguments[0], inside), max_size=2).map(tuple)
        return st.tuples(*(values(argument, inside) for argument in arguments))
    if typing.get_origin(annotation) is dict:
        return st.dictionaries(st.text(max_size=12), values(arguments[1], inside), max_size=2)
    if typing.get_origin(annotation) is typing.Literal:
        return st.sampled_from(arguments)
    return PLAIN[annotation]


def facts(fact: Any, inside: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Facts of one class, in facts of the classes `inside`."""
    hints = field_types(fact).items()
    return st.builds(fact, **{name: values(hint, (*inside, fact)) for name, hint in hints})


def one(annotation: Any, inside: tuple[Any, ...] = ()) -> Any:
    """One value that a field with this annotation may have: known, and not empty where it need not be."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return one(next(each for each in arguments if each is not Unknown), inside)
    if typing.get_origin(annotation) is tuple and arguments[-1] is Ellipsis:
        return () if arguments[0] in inside else (one(arguments[0], inside),) * 2
    if typing.get_origin(annotation) is tuple:
        return tuple(one(argument, inside) for argument in arguments)
    if typing.get_origin(annotation) is dict:
        return {"key": one(arguments[1], inside)}
    if typing.get_origin(annotation) is typing.Literal:
        return arguments[0]
    if dataclasses.is_dataclass(annotation):
        hints = field_types(annotation).items()
        made = {name: one(hint, (*inside, annotation)) for name, hint in hints}
        return annotation(**made | WORDS.get(annotation.__name__, {}))
    return annotation(7) if annotation is not ImmortalType else Immortal
