"""What the public operations of a library do with the bytes that they are given."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Literal, get_args

from inspector.facts.record import dataclass

Did = Literal[
    "view", "partly a view", "same object", "in place", "changes the object", "copy", "copy that loses",
    "selection", "new values", "partly new values", "no bytes", "raises", "unknown",
]  # fmt: skip
"""What a call did with its source's bytes. copy: its values in new memory; that loses: not all of each value;
selection: some of its values, or more than once, or filled up with zeros, in new memory;
changes the object: its memory is another one afterwards; no bytes: a number, a type, nothing."""
DID: tuple[Did, ...] = get_args(Did)


@dataclass(frozen=True, slots=True)
class Case:
    """One call with one kind of argument."""

    operation: str
    """ "pandas.DataFrame.to_numpy"."""
    call: str
    """As it is written, with the source `x`."""
    kind: str
    """Of the source: "DataFrame, mixed dtypes"."""
    did: Did
    traced: str
    """What a trace's row of the statement says; "" without one."""
    agrees: Literal["yes", "no", "not told"]
    """Whether the two say the same; not told: the trace has no verdict, or the call has no bytes."""
    made: float = 0
    """Bytes made for each byte of the source."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All cases of a library, or of one operation."""

    library: str
    version: str
    operations: int
    cases: tuple[Case, ...]
    lost: tuple[tuple[str, str], ...] = ()
    """(operation, why) of those whose calls ended the process or took too long."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one call does, by kind of argument."""

    operation: str
    call: str
    did: str
    """ "view if C-contiguous, else copy"."""
    versions: tuple[str, ...]
    """Releases of which it is true."""
    made: float
    """Most bytes made for each byte of the source."""


@dataclass(frozen=True, slots=True)
class Count:
    """How much of a release was called, and how often a trace says what the bytes say."""

    library: str
    version: str
    operations: int
    cases: int
    agree: int
    disagree: int
    not_told: int


@dataclass(frozen=True, slots=True)
class Rules:
    """The answer to a question to the catalogue."""

    rules: tuple[Rule, ...]
    counts: tuple[Count, ...]
    disagreements: tuple[Case, ...] = ()
    """Cases of which a trace says something else."""
    lost: tuple[tuple[str, str], ...] = ()
