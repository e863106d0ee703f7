"""Amounts as text: bytes with a unit, counts with commas, changes with a sign."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable

from inspector.facts.amounts import size as size
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


def total(values: Iterable[int | Unknown], form: Callable[[int], str] = size) -> str:
    """A sum, of sizes: "17 MB", "? of 2", "4.0 MB + ? of 36": unknown ones are counted, never 0."""
    every = list(values)
    told = [value for value in every if not isinstance(value, Unknown)]
    unknown = f"? of {len(every) - len(told):,}" if len(told) < len(every) else ""
    return " + ".join(part for part in (form(sum(told)) if told or not every else "", unknown) if part)
