"""Objects side by side: which bytes they share, whether their values are equal, which fields differ."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from inspector.facts.amounts import counted
from inspector.facts.answers import Answer
from inspector.facts.buffer import Holder
from inspector.facts.layout import Member
from inspector.facts.sharing import Pair, PartSharing, Sharing
from inspector.facts.unknown import Address, Unknown


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs, with both values as text."""

    column: str
    field: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Strided:
    """One block of elements of a compared object."""

    address: Address
    """Of the element with all indices 0."""
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    itemsize_bytes: int
    format: str
    """Element type as the library prints it: "float64"."""
    members: tuple[Member, ...]
    """Fields of a structured element."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the compared objects: what it is, where its elements lie, what a write to it does."""

    name: str
    type_name: str
    library: str
    """"numpy", "pandas"; "" for Python itself or unknown."""
    address: Address
    """Of the object itself."""
    owns: bool | Unknown
    bytes: int | Unknown
    """Logical bytes of all its elements."""
    holders: tuple[Holder, ...]
    """From its base to the owner of its bytes."""
    holds_arrays: bool
    """Whether it keeps its bytes in arrays of its own, as a pandas Series does."""
    writing: str
    """What a write through it does to the shared bytes: "in place", "refused", "copies" (copy-on-write),
    "?"."""
    blocks: tuple[Strided, ...]
    """The first ones."""
    total_blocks: int | Unknown
    columns: int
    """Number of its parts: columns of a table, named arrays of a sparse matrix; 0: it has one part."""
    part_word: str
    """"column", "array"; "" if it has one part."""


@dataclass(frozen=True, slots=True)
class Values:
    """Whether the elements of two objects are equal."""

    equal: bool
    what: str
    """"values", or "objects": references to Python objects, compared by identity."""
    compared: int
    """Number of pairs of elements that were compared: `total`, or a sample."""
    total: int
    left_order: str
    right_order: str
    """"C" or "F": the order in which each was read, row by row or column by column."""
    varied: bool
    """Whether at least two of the compared elements of one object differ."""
    first: tuple[int, ...]
    """Index in the left object of the first pair that differs; () if there is none."""
    left: str
    right: str
    """The values of that pair as text; "" if they have none."""
    parts: tuple[str, ...] = ()
    """Of two tables: the columns that were compared; where they differ, only the one that differs first."""
    left_out: tuple[str, ...] = ()
    """Columns that were not compared: their formats say nothing of values."""


@dataclass(frozen=True, slots=True)
class Nested:
    """What two containers or instances both reach, through containers and instances of Python's classes."""

    common: tuple[str, ...]
    """Paths, in the left object, of the first mutable objects that both reach."""
    total: int
    """How many there are."""
    equal: bool | Unknown
    first: str
    """Path of the first items that differ; "" if there are none."""
    looked: int
    """Items that were looked at, in the one where they were more."""
    complete: bool
    """Whether these are all items; False if the look ended at its bound."""
    closed: tuple[str, ...]
    """Names of types that both may reach and whose objects were not looked into."""
    sharing: tuple[tuple[str, str], ...] = ()
    """Paths, in the left and in the right object, of different arrays that have bytes in common."""
    of_class: tuple[str, ...] = ()
    """Attributes of a class of both, whose values can change and which neither has for itself."""


NO_CONTAINERS = Unknown("lists, tuples and dicts are looked into")
NOT_COMPARED = Unknown("values are compared only where no byte is shared")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two objects, or the facts of two reports, differ; for more objects: who shares with whom."""

    left: str
    right: str
    """"" for more than two objects, whose names are in `sides`."""
    same_object: bool | Unknown
    """Unknown for two saved reports: addresses of different processes cannot be compared."""
    changes: tuple[Change, ...]
    sharing: Sharing
    sides: tuple[Side, ...] = ()
    """The objects; none for two saved reports."""
    values: Values | Unknown = NOT_COMPARED
    nested: Nested | Unknown = NO_CONTAINERS
    parts: tuple[PartSharing, ...] = ()
    """The columns of tables, one by one."""
    inside: str = ""
    """How one object is reached from the other, a list, tuple or dict: "rows[0]"; "" if it is no item."""
    pairs: tuple[Pair, ...] = ()
    """For more than two objects: those that share bytes, or may."""
    answers: tuple[Answer, ...] = ()
    """What follows from all this, the most important first."""

    def __repr__(self) -> str:
        names = " and ".join((self.left, self.right) if self.right else (side.name for side in self.sides))
        said = " ".join(answer.text.replace("`", "") for answer in self.answers[:3])
        fields = ", ".join(change.field for change in self.changes[:3])
        differ = "differs" if len(self.changes) == 1 else "differ"
        more = f"{counted(len(self.changes), 'field')} {differ}{': ' if fields else ''}{fields}"
        told = [said, more if self.right else counted(len(self.pairs), "pair")]
        return f"<Comparison of {names}: {' '.join(filter(None, told))}>"
