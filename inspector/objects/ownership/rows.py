"""The rows that `_native` gives about holders, with names for their fields."""

from __future__ import annotations

import itertools
from types import CodeType
from typing import Any, NamedTuple

from inspector import _native
from inspector.objects.classes import type_bases


class Frame(NamedTuple):
    """A running frame: its code object (never a frame object: making one would keep its locals)."""

    code: CodeType
    line: int
    last_byte: int
    """Offset of the current instruction in the bytecode."""
    depth: int
    """0: the innermost frame of its thread."""
    thread: int
    """As `threading.get_ident()`."""
    calls_python: int
    """Whether it waits for a Python function that took its arguments from this frame's stack."""


class Row(NamedTuple):
    """One place that refers to a subject; see `_native.HolderRow`."""

    subject: int
    place: str
    holder: _native.Subject | None
    slot: str
    position: int
    """Index of the item, offset of the field."""
    key: _native.Subject | None
    references: int
    certain: bool
    word: int
    link: int
    block: int
    frame: Frame | None


class KnownName(NamedTuple):
    """Under which name a holder is known: a key of a namespace, or a variable of a frame."""

    holder: _native.Subject
    namespace: _native.Subject | None
    key: _native.Subject | None
    frame: Frame | None


def rows(found: list[_native.HolderRow]) -> list[Row]:
    """Holder rows with field names."""
    return [Row(*row[:11], Frame(*row[11]) if row[11] else None) for row in found]


def known_names(found: list[Any]) -> list[KnownName]:
    """Name rows with field names."""
    return [KnownName(row[0], row[1], row[2], Frame(*row[3]) if row[3] else None) for row in found]


def is_kind(value: object, *bases: type) -> bool:
    """Whether the C type of a value is one of these or inherits from one; no user code is asked."""
    return any(entry is base for entry in type_bases(type(value)) for base in bases)


def entry(namespace: object, name: str) -> object:
    """What an exact dict has under a str, among its first entries; None where there is none.

    Keys are compared as strings only: a key of a user's type is not asked.
    """
    if type(namespace) is not dict:
        return None
    first = list(itertools.islice(namespace.items(), 64))
    return next((value for key, value in first if type(key) is str and key == name), None)


def key_text(key: _native.Subject | None) -> str:
    """A dict key or a name as Python writes it; only its type where writing it would run user code."""
    if key is None:
        return ""
    return _native.preview(key, ()) or f"<{type_name(key)}>"


def plain_name(key: _native.Subject | None) -> str:
    """A name without quotes, "" where the key is no identifier."""
    text = key_text(key)
    return text[1:-1] if text[:1] in "'\"" and text[1:-1].isidentifier() else ""


def type_name(subject: _native.Subject) -> str:
    """Name of the type without its module, read from the C struct."""
    return _native.object_layout(subject)["type_name"].rpartition(".")[2]
