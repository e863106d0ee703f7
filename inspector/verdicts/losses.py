"""Conversions that did not keep the whole value: overflow, precision, sign, embedded NUL."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.facts.conversion import Call, Loss


def losses(calls: Iterable[Call]) -> tuple[Loss, ...]:
    """The losses that the calls' conversions show."""
    return ()
