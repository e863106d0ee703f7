"""scipy.sparse: matrices in compressed arrays, and linear operators, which are only recipes."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from math import prod
from typing import Any

from inspector.adapters.base import Elements, stored, type_name
from inspector.adapters.holders import Holder, blocks, is_array
from inspector.adapters.told import Layer, Told, attribute, recipe
from inspector.facts.unknown import Unknown

_ARRAYS = ("data", "indices", "indptr", "offsets", "row", "col", "coords", "rows")
_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


class SparseMatrices(Holder):
    """Exact matrices and arrays of each format, and linear operators with their subclasses."""

    library = "scipy"
    versions = ("1.13", "2")
    exact = (*(f"sparse.{form}_matrix" for form in _FORMATS), *(f"sparse.{form}_array" for form in _FORMATS))
    inherited = ("sparse.linalg.LinearOperator",)
    """Products and sums of operators are subclasses of it."""

    def self_test(self) -> None:
        """A csr matrix of two elements has three arrays."""
        sparse = sys.modules.get("scipy.sparse")
        if sparse and len(self.elements(sparse.csr_matrix(([1.0, 2.0], ([0, 1], [1, 0]))))) != 3:
            raise ValueError("csr_matrix keeps its arrays elsewhere")

    def held(self, x: Any) -> Iterator[tuple[str, Any]]:
        """data, indices, indptr; for coo its coordinates; none for formats of Python objects (dok, lil)."""
        for name in _ARRAYS:
            found = stored(x, name)
            many = enumerate(found) if type(found) is tuple else ()
            yield from ((f"{name}[{n}]", one) for n, one in many if is_array(one))
            if is_array(found):
                yield name, found

    def order(self, x: Any) -> str:
        """The format."""
        return type_name(type(x)).partition("_")[0]

    def placing(self, x: Any) -> tuple[Elements, ...]:
        """All its arrays but `data`."""
        return tuple(block for name, array in self.held(x) if name != "data" for block in blocks(array))

    def boxed(self, x: Any) -> bool:
        """dok keeps a dict, lil lists."""
        return type_name(type(x))[:3] in ("dok", "lil")

    def layers(self, x: Any) -> Told:
        """computed, in fewer bytes than its shape implies; an operator is lazy and never materialized."""
        name, shape = type_name(type(x)), stored(x, "shape") or stored(x, "_shape")
        if not name.endswith(("_matrix", "_array")):
            what = f"{name.lstrip('_')} {_plain(shape)}"
            return recipe(what, "matvec()", attribute("x.shape", _plain(shape)), would_not=("repr", "x.T"))
        flag = stored(x, "has_canonical_format", stored(x, "_has_canonical_format"))
        known = {True: "none", False: "may be there: their sum is pending"}.get(flag, "not looked for yet")
        dense = _dense_bytes(shape, stored(x, "data"))
        wrapper = Layer(
            "wrapper",
            f"{name} {_plain(shape)}",
            storage="heap",
            evidence=(attribute("duplicates", known),) if name[:3] in ("coo", "csr", "csc", "bsr") else (),
            would=("toarray()", "x.todense()"),
            would_not=("x.T", "repr"),
        )
        less = type(dense) is int and sum(block.range.bytes for block in self.elements(x)) < dense
        said: dict[str, Any] = {"state": "virtual"} if less else {}
        return self.stack(x, wrapper, logical_bytes=dense, **said)


def _dense_bytes(shape: Any, array: Any) -> int | Unknown:
    """Bytes of all elements, zeros included."""
    found = blocks(array)
    if type(shape) is not tuple or not found or not found[0].numeric:
        return Unknown("its elements are Python objects, without a size of their own")
    return found[0].itemsize_bytes * prod(int(length) for length in shape)


def _plain(shape: Any) -> str:
    """A shape of exact ints as text; other objects that a user's operator stores are not printed."""
    fits = type(shape) is tuple and all(type(length) is int for length in shape)
    return str(shape) if fits else "of unknown shape"


ADAPTER = SparseMatrices()
