"""How far a long question is, in words: the same in a terminal and in a notebook."""

from __future__ import annotations


def searched(done: int, whole: int) -> str:
    """Of memory that is searched; both in bytes."""
    return f"searched {done / 1e6:,.0f} of {whole / 1e6:,.0f} MB"


def answered(done: int, whole: int) -> str:
    """Of a cluster whose workers are asked."""
    return f"{done:,} of {whole:,} workers answered"


def traced(records: int, seconds: float) -> str:
    """Of code that runs traced, whose end nobody knows."""
    return f"traced for {seconds:,.0f} s, {records:,} records"
