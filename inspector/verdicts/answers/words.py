"""Words and amounts of answers; names and code stand between backticks."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Any

from inspector.facts.answers import Answer
from inspector.facts.buffer import Buffer, Holder
from inspector.facts.unknown import Unknown

LONGEST_NAME = 40
"""A longer name is called "it"."""
LEAST_KEPT_BYTES = 4_096
"""Kept bytes, besides the own ones, that are worth a sentence."""


def code(text: str) -> str:
    """A name or an expression between backticks."""
    return f"`{text}`"


def called(name: str, other: str = "it") -> str:
    """How a sentence calls the object: its name, or "it" where it has none that a user would read."""
    return code(name) if name not in ("", "object") and len(name) <= LONGEST_NAME else other


def few(count: int) -> str:
    """A small number as a word."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[count] if count < len(words) else f"{count:,}"


def listed(words: Iterable[str], most: int = 0) -> str:
    """ "a, b and c"; with `most`, those and "9 more"."""
    every = list(words)
    left = len(every) - most if most else 0
    *first, last = [*every[:most], f"{left:,} more"] if left > 0 else every
    return f"{', '.join(first)} and {last}" if first else last


def known(facts: Any, column: str) -> Any:
    """The fact of a column; None if it is missing or unknown."""
    fact = facts.get(column)
    return None if isinstance(fact, Unknown) else fact


def number(value: Any) -> int:
    """A number; 0 for an unknown one."""
    return 0 if isinstance(value, Unknown) or value is None else value


def answer(slug: str, text: str, *evidence: str, **more: Any) -> Answer:
    """An answer; `more`: certain, about, do, costs_bytes, nothing (what a claim of none looked at)."""
    return Answer(
        slug,
        text,
        more.get("certain", True),
        tuple(name for name in more.get("about", ()) if name),
        evidence,
        more.get("do", ""),
        more.get("costs_bytes", 0),
        (nothing,) if (nothing := more.get("nothing")) else (),
    )


def root(buffer: Buffer) -> Holder | None:
    """The one holder that owns the bytes and covers them; None if there is none or there are several."""
    owning = [holder for holder in buffer.holders if holder.owns is True]
    return owning[0] if len(owning) == 1 and not _is_outside(buffer, owning[0]) else None


def untold(buffer: Buffer) -> Holder | None:
    """A base that does not tell whether it owns the bytes, of which it has all: a series of polars."""
    *between, base = buffer.holders or (None,)
    if base is None or any(holder.owns is not False for holder in between):
        return None
    return base if isinstance(base.owns, Unknown) and is_whole(buffer, base) else None


def _is_outside(buffer: Buffer, holder: Holder) -> bool:
    """Whether bytes lie outside those that their base owns, as in an object with a false base."""
    part, whole = buffer.range, holder.range
    if isinstance(part, Unknown) or isinstance(whole, Unknown) or not part.bytes:
        return False
    return part.start < whole.start or part.stop > whole.stop


def library(type_name: str) -> str:
    """The library of a type by its own name: "pandas", "Arrow", "NumPy"; "" for Python's own types."""
    top = type_name.partition(".")[0] if "." in type_name else ""
    return {"numpy": "NumPy", "pyarrow": "Arrow", "torch": "PyTorch", "builtins": ""}.get(top, top)


def holder_name(holder: Holder) -> str:
    """The user's name for a holder; "" if it has none."""
    return holder.name if holder.name != holder.type_name else ""


def is_whole(buffer: Buffer, base: Holder) -> bool:
    """Whether an object shows all bytes of its base."""
    return buffer.range == base.range and number(buffer.logical_bytes) == number(base.bytes) > 0
