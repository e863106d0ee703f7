"""Statements of the user's code: what each one bound, copied, shared or lost."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Final, Literal

from inspector.facts.conversion import Loss, Materialized, Site
from inspector.facts.memory import Range
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

OBJECTS: Final = Unknown("its elements are Python objects, which are not read")
"""Of a matrix in lists or a dict: why nothing says what of it a value has."""
COMING: Final = Unknown("it was still being computed when the line was over")
"""Of an array of JAX."""
Relation = Literal["same object", "view", "in place", "apart", "unknown"]
"""A value against the names of its statement. apart: no byte in common with any of them."""
Did = Literal[
    "copied", "view", "same object", "in place", "shared", "new values", "new", "no bytes", "unknown"
]
"""What a statement did. copied: values of its operands in new memory; view: bytes of an operand; shared:
bytes that something else had before; new values: computed; new: memory of its own, and nothing proves that
its values are an operand's; no bytes: what it bound, if anything, has no elements."""


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as it is written: a simple one, or the head of a compound one."""

    file: str
    line: int
    last_line: int
    text: str
    """In one line, with single spaces."""
    targets: tuple[str, ...]
    """Names, attributes and items that it binds: "y", "self.x", "d['k']"."""
    names: tuple[str, ...]
    """Names that it reads."""
    library: str
    """Name that its outermost call begins with: "pd" of `pd.concat(parts)`."""
    loop: int
    """Line of the outermost loop around it within its function; 0: no loop."""
    kind: Literal["assign", "augmented", "return", "import", "other"]
    cell: int = -1
    """Number of the notebook cell; -1 outside of one."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A value that a statement bound, found by looking at its names before and after."""

    file: str
    line: int
    target: str
    """"" for a value returned."""
    what: str
    """"ndarray float64 (334, 500)"."""
    bytes: int | Unknown
    """Of its elements."""
    relation: Relation
    of: str
    """The name of the statement that it is, or shares bytes with; for `apart` what it was compared with."""
    shared_bytes: int | Unknown
    """Of a value apart from `of` that holds other bytes too, as a pickle does: how many are copied ones."""
    values: Literal["equal", "different", ""]
    """Its elements against those of `of`; "": not compared."""
    compared_all: bool
    ranges: tuple[Range, ...]
    """Where its first blocks lie."""
    library: str
    """Package of the object that the statement's outermost call begins with."""
    alone: bool
    """Whether no other statement of the user's ran meanwhile."""
    times: int
    items: str = ""
    """What the list or tuple `of` holds: "20,000 dict"."""
    became: str = ""
    """Of a list or tuple of Python numbers with the elements of `of`: "1,000 float"."""
    parts: int = 1
    """Columns of the table `of` that became columns of one array; 1 for anything else."""
    objects: bool = False
    """Whether its elements are Python objects, which are not compared."""
    more: bool = False
    """Whether further passes of the statement were not looked at."""
    beside: str = ""
    """The operand that the other parts of the same value are a view of; these parts have no byte of it. Of a
    value written in place: what was copied into it, as it is written."""
    operands: tuple[Range, ...] = ()
    """Where the first blocks of the operands lay before the statement."""
    uniform: bool = False
    """Whether its elements are all the same one, by a sample: that they equal others proves nothing."""
    by: str = ""
    """Where a function of the user's changed it in place, that the statement called: "f in line 3"."""
    given_nothing: bool = False
    """Whether all that the statement names is modules, functions, texts, files and numbers."""


@dataclass(frozen=True, slots=True)
class Named:
    """A statement all of whose passes were looked at, and where all blocks of what it names lay."""

    file: str
    line: int
    last_line: int
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Inside:
    """Copies that libraries made on the way, which are not the statement's value."""

    library: str
    copies: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of torch that a line of the user's ran; one that only made a view is not kept."""

    file: str
    line: int
    name: str
    """"aten::clone"."""
    called: str
    """The function that the innermost Python line called: "contiguous"; "" if it called none by name."""
    did: Literal["copied", "new", "in place"]
    shape: str
    """Of the first tensor that it made or wrote: "float32 (1000, 1000)"."""
    bytes: int
    """Made or written, of all times together."""
    times: int
    starts: tuple[int, ...] = ()
    """Where its last results begin."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the user's code."""

    site: Site
    last_line: int
    target: str
    verdict: Did
    of: str
    """The name that it shares bytes with or is, as it is written: "df['a']"."""
    bytes: int | Unknown
    """Bytes of the value, of all passes together."""
    copied_bytes: int
    """Bytes of operands' values that it put into new memory; 0 unless it copied."""
    reason: str
    certain: bool
    """False: concluded from the calls that it made, or from a sample of the values."""
    times: int
    at_least: bool
    """Whether it may have run more often: its names were looked at only for the first passes."""
    inside: tuple[Inside, ...]
    """At most one."""
    losses: tuple[Loss, ...]
    materialized: tuple[Materialized, ...]
    """Data of lazy objects that was computed, read or expanded meanwhile."""
    calls: int
    native_ns: int | Unknown
    instead: str
    """Code that does the same without the copy: `np.asarray(x)`; "" where none is known."""
    operators: tuple[Operator, ...] = ()
    """Of torch, those that copied first, then by bytes."""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a trace that had to do with bytes, in the order of the source."""

    rows: tuple[Statement, ...]
    values_seen: bool
    """Whether the names of the statements were looked at; else all is concluded from recorded calls."""
