"""Amounts as text: bytes with a unit, counts with commas, changes with a sign."""

# SPDX-License-Identifier: MIT
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.views.grammar import Span, text

_UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")


def size(count: int) -> str:
    """Bytes as text: "96 B", "8.0 MB" (powers of 1,000); the sign is kept."""
    if abs(count) < 1000:
        return f"{count} B"
    value, power = count / 1000, 0
    while abs(value) >= 999.5 and power + 1 < len(_UNITS):
        value, power = value / 1000, power + 1
    return f"{value:.1f} {_UNITS[power]}" if abs(value) < 9.95 else f"{value:.0f} {_UNITS[power]}"


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
