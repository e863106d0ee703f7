"""Facts to JSON values and back: `to_wire(fact)`, `from_wire(type, value)`.

A fact is an object of its fields; an unknown is {"unknown": reason}; an address is a hex string; an immortal
refcount is "immortal"; a tuple is an array. The reader follows the fields' annotations: a fact class is its
own schema.
"""

# SPDX-License-Identifier: MIT
import dataclasses
import functools
import types
import typing
from typing import Any

from inspector.errors import InspectorError
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown

SCHEMA = 2


def to_wire(value: Any, annotation: Any = None) -> Any:
    """A fact, or a value inside one, as plain JSON values."""
    if isinstance(value, Unknown):
        return {"unknown": value.reason}
    if value is Immortal:
        return "immortal"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = field_types(type(value))
        return {name: to_wire(getattr(value, name), hint) for name, hint in hints.items()}
    if isinstance(value, tuple):
        return [to_wire(item, _item_type(annotation, i)) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: to_wire(item, _item_type(annotation, 1)) for key, item in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and Address in _alternatives(annotation):
        return hex(value)
    return value


def from_wire(annotation: Any, value: Any) -> Any:
    """The fact of type `annotation` that `to_wire` wrote as `value`."""
    try:
        return _read(annotation, value)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InspectorError(
            f"not a saved {_name(annotation)}: {error}",
            slug="bad-report",
            why="the file is damaged, or was not written by inspector",
            do="write it again with --json",
        ) from error


def _name(annotation: Any) -> str:
    """An annotation as text without modules: `int | Unknown`."""
    return " | ".join(getattr(choice, "__name__", str(choice)) for choice in _alternatives(annotation))


@functools.cache
def field_types(fact: type) -> dict[str, Any]:
    """Field name -> resolved annotation of a fact class."""
    hints = typing.get_type_hints(fact)
    return {field.name: hints[field.name] for field in dataclasses.fields(fact)}


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _item_type(annotation: Any, position: int) -> Any:
    for choice in _alternatives(annotation):
        arguments = typing.get_args(choice)
        if typing.get_origin(choice) is tuple and arguments:
            return arguments[0] if arguments[-1] is Ellipsis else arguments[position]
        if typing.get_origin(choice) is dict:
            return arguments[1]
    return None


def _read(annotation: Any, value: Any) -> Any:
    choices = _alternatives(annotation)
    if isinstance(value, dict) and "unknown" in value and Unknown in choices:
        choices = (Unknown,)
    for choice in choices:
        if (matched := _read_as(choice, value)) is not _NO:
            return matched
    raise TypeError(f"{value!r:.60} is not {_name(annotation)}")


_NO: Any = object()


def _read_as(choice: Any, value: Any) -> Any:
    if choice is Address:
        return Address(int(value, 16)) if isinstance(value, str) and value.startswith("0x") else _NO
    if choice is ImmortalType:
        return Immortal if value == "immortal" else _NO
    if choice is Unknown:
        return _read_unknown(value)
    if dataclasses.is_dataclass(choice):
        return _read_fact(typing.cast(type, choice), value) if isinstance(value, dict) else _NO
    if (origin := typing.get_origin(choice)) is tuple:
        return _read_tuple(choice, value) if isinstance(value, list) else _NO
    if origin is dict:
        item = typing.get_args(choice)[1]
        return {k: _read(item, v) for k, v in value.items()} if isinstance(value, dict) else _NO
    if origin is typing.Literal:
        return value if value in typing.get_args(choice) else _NO
    return _read_plain(choice, value)


def _read_unknown(value: Any) -> Any:
    known = isinstance(value, dict) and set(value) == {"unknown"} and type(value["unknown"]) is str
    return Unknown(value["unknown"]) if known else _NO


def _read_fact(fact: type, value: dict[str, Any]) -> Any:
    hints = field_types(fact)
    if missing := [name for name in hints if name not in value and not _has_default(fact, name)]:
        raise ValueError(f"{fact.__name__} has no {missing[0]}")
    return fact(**{name: _read(hint, value[name]) for name, hint in hints.items() if name in value})


def _has_default(fact: type, name: str) -> bool:
    """Whether a report saved before the field existed can be read without it."""
    field = next(field for field in dataclasses.fields(fact) if field.name == name)
    return any(default is not dataclasses.MISSING for default in (field.default, field.default_factory))


def _read_tuple(choice: Any, value: list[Any]) -> tuple[Any, ...]:
    arguments = typing.get_args(choice)
    if arguments[-1] is not Ellipsis and len(arguments) != len(value):
        raise ValueError(f"{len(value)} items instead of {len(arguments)}")
    return tuple(_read(_item_type(choice, i), item) for i, item in enumerate(value))


def _read_plain(choice: Any, value: Any) -> Any:
    if choice is float and type(value) is int:
        return float(value)
    if choice is None:
        choice = type(None)
    return value if isinstance(choice, type) and type(value) is choice else _NO
