"""Amounts as text: bytes with a unit, counts with commas, changes with a sign."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from inspector.facts.sizes import size as size
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.views.grammar import Span, text


def signed(count: int) -> str:
    """A change of a count: "+3", "-1,200", "0"."""
    return f"{count:+,}" if count else "0"


def signed_size(count: int) -> str:
    """A change of bytes: "+8.0 MB", "-96 B", "0 B"."""
    return f"+{size(count)}" if count > 0 else size(count)


def became(copied: int, shared: int, made: int) -> str:
    """Bytes by verdict: "  copied 24 B"; "" if all are 0."""
    amounts = (("copied ", copied), ("shared ", shared), ("", made))
    return "".join(f"  {word}{size(count)}" for word, count in amounts if count)


def known(value: int | ImmortalType | Unknown, how: str = "count") -> tuple[Span, ...]:
    """A number as spans; `how`: count, size, signed, signed_size. An unknown is dim, with its reason."""
    if isinstance(value, Unknown):
        return text(str(value), "dim")
    if isinstance(value, ImmortalType):
        return text("immortal", "dim")
    forms = {"count": "{:,}".format, "size": size, "signed": signed, "signed_size": signed_size}
    return text(forms[how](value))
