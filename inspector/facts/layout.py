"""How elements lie in memory: shape, strides, order, contiguity."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Member:
    """A named field inside an element (structured dtype)."""

    name: str
    format: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Layout:
    """How elements lie in memory: shape, strides, format, contiguity."""

    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    itemsize_bytes: int
    format: str
    """Element type as the library prints it: "float64", ">i4", "object"."""
    c_contiguous: bool
    f_contiguous: bool
    aligned: bool | Unknown
    words: tuple[str, ...]
    """The layout in words, derived from the strides: "C order", "Fortran order", "reversed", "broadcast",
    "every 2nd element", "overlapping", "empty", "scalar"."""
    members: tuple[Member, ...]
    preview: tuple[str, ...] | Unknown
    """The first elements as text, in logical order; numeric elements only, a bounded number."""
