"""The holder rows of `_native`, with names for their fields."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import itertools
from types import CodeType
from typing import Any, NamedTuple

from inspector import _native
from inspector.objects.classes import type_bases


class Frame(NamedTuple):
    """A running frame: its code object (never a frame object: creating one would keep its locals alive)."""

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
    """The name of a holder: a key of a namespace, or a variable of a frame."""

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
    """Whether the C type of a value is one of these or inherits from one; runs no user code."""
    return any(entry is base for entry in type_bases(type(value)) for base in bases)


def entry(namespace: object, name: str) -> object:
    """The value of an exact dict for a str key, among its first entries; or None.

    Keys are compared as strings only: runs no code of a user's key type.
    """
    if type(namespace) is not dict:
        return None
    try:
        first = list(itertools.islice(namespace.items(), 64))
    except RuntimeError:  # another thread put a key in meanwhile
        first = list(namespace.items())[:64]
    return next((value for key, value in first if type(key) is str and key == name), None)


def key_text(key: _native.Subject | None) -> str:
    """A dict key or a name as Python writes it; only its type if its repr would run user code."""
    if key is None:
        return ""
    return _native.preview(key, ()) or f"<{type_name(key)}>"


def plain_name(key: _native.Subject | None) -> str:
    """A name without quotes, "" if the key is no identifier."""
    text = key_text(key)
    return text[1:-1] if text[:1] in "'\"" and text[1:-1].isidentifier() else ""


def type_name(subject: _native.Subject) -> str:
    """Name of the type without its module, read from the C struct."""
    return _native.object_layout(subject)["type_name"].rpartition(".")[2]
