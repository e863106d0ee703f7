"""The text of a progress line, for terminals and notebooks."""

# SPDX-License-Identifier: MIT


def searched(done: int, whole: int) -> str:
    """Progress of a memory search; both arguments in bytes."""
    return f"searched {done / 1e6:,.0f} of {whole / 1e6:,.0f} MB"


def answered(done: int, whole: int) -> str:
    """Progress of a request to all workers of a cluster."""
    return f"{done:,} of {whole:,} workers answered"


def traced(records: int, seconds: float) -> str:
    """Progress of a running trace, whose total is unknown."""
    return f"traced for {seconds:,.0f} s, {records:,} records"
