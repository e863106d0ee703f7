"""Lost objects: alive, reached from no root, and freed by no garbage collection."""

# SPDX-License-Identifier: MIT
from typing import Final, Literal

from inspector.facts.account import AccountPart
from inspector.facts.answers import Answer
from inspector.facts.record import dataclass

Cause = Literal[
    "object array",
    "type without tp_traverse",
    "field not visited",
    "count in C++",
    "lost holder",
    "lost C memory",
    "no holder",
]
CYCLES: Final[tuple[Cause, ...]] = (
    "object array",
    "type without tp_traverse",
    "field not visited",
    "count in C++",
)
"""Cycles that no collection frees, the last between an object and its own part in C++, which a lost reference
there keeps; of the rest C code took and lost a reference."""


@dataclass(frozen=True, slots=True)
class LostObject:
    """Objects that are lost in the same way; one of them is shown."""

    type_name: str
    shown: str
    """The type, and the value if it is short, of one of them."""
    objects: int
    cause: Cause
    """Why no collection frees it: a reference that the collector does not see, or one that nothing holds."""
    holder: str
    """The type of the object that holds it unseen; "" where no object does."""
    where: str
    """Where in it the address stands: "`other`, byte 24", "item 1", "byte 8 of the block at byte 16"."""
    references: int
    """References that no tp_traverse tells of, of all of them."""
    certain: bool
    """False where its memory only looks like an object, and where no cycle through an item or a declared
    field is found: other fields may borrow, and an address may be kept in a form that no search sees."""
    kept_objects: int
    """What they keep alive, with themselves; each object counted once."""
    kept_bytes: int
    """Own bytes of these objects, and of the buffers that they own."""


@dataclass(frozen=True, slots=True)
class Lost:
    """All lost objects of this process, those that keep most first."""

    rows: tuple[LostObject, ...]
    more: int
    """Lost objects beyond the bound, that are not in a row."""
    garbage: int
    """Objects that nothing reaches either, and that the next garbage collection frees."""
    searched_bytes: int
    took_ns: int
    kept: tuple[AccountPart, ...] = ()
    """Own bytes of what the rows keep, by type."""
    buffers: tuple[AccountPart, ...] = ()
    """Bytes of the buffers that these objects own, by type."""
    answers: tuple[Answer, ...] = ()

    @property
    def objects(self) -> int:
        """How many objects are lost, with all that they keep."""
        return sum(row.kept_objects for row in self.rows)

    @property
    def bytes(self) -> int:
        """Their bytes."""
        return sum(row.kept_bytes for row in self.rows)

    def __repr__(self) -> str:
        most = ", ".join(f"{row.objects} {row.type_name}: {row.cause}" for row in self.rows[:3])
        return f"<Lost: {self.objects:,} objects, {self.bytes:,} bytes; {most or 'none'}>"
