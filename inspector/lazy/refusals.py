"""The errors of lazy vectors: C calls these functions by name."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector.errors import InspectorError

KINDS = "bool, int8 to int64, uint8 to uint64, float32, float64"


def kind(said: object) -> InspectorError:
    """An element type we have no arithmetic for; `said` is a PEP 3118 format or a dtype."""
    return InspectorError(
        f"no lazy vector of {said or 'B'!s:.40}",
        slug="lazy-kind",
        why=f"a lazy vector's elements are {KINDS}, in the byte order of this machine",
        do="convert the array first: x.astype('f8')",
    )


def dimensions(count: int) -> InspectorError:
    """An array that is not one-dimensional."""
    return InspectorError(
        f"no lazy vector of {count} dimensions",
        slug="lazy-dimensions",
        why="a lazy vector has one dimension",
        do="give a flat view: x.reshape(-1)",
    )


def nothing_to_compute(who: object) -> InspectorError:
    """A provider without elt, get_region or a length."""
    name = who.__name__ if isinstance(who, type) else str(who)
    return InspectorError(
        f"{name:.60} cannot compute an element",
        slug="lazy-nothing-to-compute",
        why="a provider has a length of 0 or more, and elt or get_region",
        do="define elt(self, i) or get_region(self, i, n, out), and call super().__init__(length, dtype)",
    )


def short_region(vector: object, start: int, asked: int, told: object) -> InspectorError:
    """A get_region that did not return the requested count."""
    answer = told if type(told) is int else type(told).__name__
    return InspectorError(
        f"{type(vector).__name__}.get_region({start}, {asked}, out) returned {answer!s:.40}, not {asked}",
        slug="lazy-short-region",
        why="get_region fills out and returns how many elements it wrote: min(n, length - i)",
        do="find the clause that breaks with inspector.check_lazy(vector)",
    )


def foreign_failed(name: str | None, start: int, asked: int, told: int) -> InspectorError:
    """A C provider that returned -1, or a count other than requested."""
    return InspectorError(
        f"provider {name or 'in C'}: asked for {asked} elements at {start}, it returned {told}",
        slug="lazy-foreign-failed",
        why="a C provider returns the number of elements it wrote, or -1 where it failed",
        do="the vector is as lazy as before and may be asked again",
    )


def abi(said: int) -> InspectorError:
    """A provider struct of another version of lazy.h, or no provider at all."""
    return InspectorError(
        f"not a provider of lazy.h: its abi is {said}, not 1",
        slug="lazy-abi",
        why="the first field of inspector_lazy_provider is INSPECTOR_LAZY_ABI",
        do="compile it against the header in inspector.lazy.include()",
    )


def circle(vector: object) -> InspectorError:
    """A vector whose data depends on itself."""
    return InspectorError(
        f"{type(vector).__name__} needs its own elements to compute them",
        slug="lazy-circle",
        why="elt or get_region asked for the data that is just being materialized: waiting would never end",
        do="compute from the input; elt and get_region never materialize",
    )


def too_deep(most: int) -> InspectorError:
    """A stack of more vectors than allowed."""
    return InspectorError(
        f"a lazy vector on more than {most} lazy vectors",
        slug="lazy-too-deep",
        why="each element would pass through all of them",
        do="materialize one in between: numpy.asarray(x)",
    )


def no_dtype(function: object) -> InspectorError:
    """A Python function without a type for its results."""
    return InspectorError(
        f"lazy.map: what does {getattr(type(function), '__name__', '?')} return?",
        slug="lazy-dtype",
        why="the element type must be known before an element is computed",
        do="lazy.map(f, x, dtype='f8')",
    )


def not_pickled(name: str) -> InspectorError:
    """A C provider: an address means nothing in another process."""
    return InspectorError(
        f"lazy({name}) cannot be pickled",
        slug="lazy-not-pickled",
        why="its recipe is C code at an address of this process",
        do="pickle its elements: numpy.asarray(v)",
    )


def not_lazy(thing: Any) -> InspectorError:
    """An object check_lazy cannot check."""
    return InspectorError(
        f"{type(thing).__name__} is no lazy provider",
        slug="lazy-not-a-provider",
        why="a provider has length (or __len__), dtype, and elt or get_region",
        do="see docs/reference/lazy.md, 'The contract'",
    )


def range_of(dtype: str) -> InspectorError:
    """An arange whose numbers do not fit."""
    return InspectorError(
        f"lazy.arange: the numbers do not fit into {dtype}",
        slug="lazy-arange",
        why="start, stop and step are finite, step is not 0, and first and last element fit the type",
        do="give a wider dtype",
    )
