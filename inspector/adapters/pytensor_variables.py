"""pytensor: graphs are recipes; shared variables and compiled functions keep arrays in storage cells."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import Adapter, Elements, type_module, type_name
from inspector.adapters.numpy_arrays import ADAPTER as NUMPY
from inspector.adapters.told import Finding, Layer, Told, attribute, field, finding
from inspector.facts.unknown import Unknown

MOST_CELLS = 1024
GENERATED = "mod.cpp"
"""File next to each compiled library (pytensor/link/c/cmodule.py)."""
MOST_NAMED = 12


class PytensorVariables(Adapter):
    """Exact types: a user's variable class may keep its value elsewhere."""

    library = "pytensor"
    versions = ("2.30", "4")
    exact = (
        "tensor.variable.TensorVariable",
        "tensor.variable.TensorConstant",
        "tensor.sharedvar.TensorSharedVariable",
        "scalar.sharedvar.ScalarSharedVariable",
        "compile.function.types.Function",
        "compile.executor.Function",
        "link.basic.Container",
    )

    def is_ready(self) -> bool:
        """When tensors are imported."""
        return hasattr(sys.modules.get("pytensor.tensor.sharedvar"), "TensorSharedVariable")

    def self_test(self) -> None:
        """A borrowing shared variable keeps the same array; its sum has an owner (Apply node) and no data."""
        numpy, pytensor = sys.modules["numpy"], sys.modules["pytensor"]
        array = numpy.zeros(2, "f8")
        kept = pytensor.shared(array, borrow=True)
        if (
            self.holds(kept) != (("container.storage[0]", array),)
            or _cell(_get(kept, "container")) is not array
        ):
            raise ValueError("a shared variable does not keep its array in container.storage[0]")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """The blocks of the arrays it keeps."""
        arrays = (array for _, array in self.parts(x))
        return tuple(block for array in arrays for block in NUMPY.elements(array))

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The array of a shared variable, a constant, a container."""
        return () if _is_function(x) else tuple(self.parts(x))

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Its arrays: one, or each cell of a compiled function's storage map."""
        for name, value in _values(x):
            if type(value) is sys.modules["numpy"].ndarray:
                yield name, value

    def owns(self, x: Any) -> bool | Unknown:
        """A function owns its cells; a shared variable its array, unless something else holds it too."""
        held = [Subject(array) for _, array in self.holds(x)]
        return all(subject.refcount() == 1 for subject in held)

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """The operation that makes a variable; a function's cells, and its thunks with their generated C."""
        if _is_function(x):
            cells = list(islice(_cells(x), MOST_CELLS))
            kept = sum(value is not None for _, value in cells)
            return (("storage_map", f"{kept} of {len(cells)} cells hold a value"), *_thunks(x))
        made = _stored(x, "owner") or _stored(x, "_owner")
        if made is not None:
            return (("owner.op", type_name(type(_stored(made, "op")))),)
        return ()

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as NumPy prints it."""
        return NUMPY.text(block, raw)

    def layers(self, x: Any) -> Told:
        """A recipe, or a holder of arrays."""
        if _is_function(x):
            return _of_function(x)
        name = type_name(type(x))
        found = list(_values(x))
        if not found:
            seen = attribute("x.owner.op", self.names(x)[0][1] if self.names(x) else "None: an input")
            calls, stays = ("x.eval({...})", "a compiled function"), ("repr", "x.type", "pytensor.dprint")
            layer = Layer("wrapper", name, "lazy", "none", evidence=(seen,), would=calls, would_not=stays)
            return Told(
                (layer,), logical_bytes=Unknown("shapes are known when it is computed"), waits_for=calls[0]
            )
        ((where, value),) = found
        seen = attribute(f"x.{where}", type_name(type(value)) if value is not None else "None")
        layer = Layer("wrapper", name, "lazy" if value is None else "computed", evidence=(seen,))
        del value, found
        if type_name(type(x)).endswith("SharedVariable") and self.owns(x) is False:
            what = "something else holds its array too: an update may change it in place"
            danger = finding("unnoticed-write", what, do="shared(a) without borrow=True", certain=False)
            return Told((layer,), findings=(danger,))
        return Told((layer,))


def _of_function(x: Any) -> Told:
    """A function's cells: intermediate results kept between calls (allow_gc=False), reused outputs."""
    cells = list(islice(_cells(x), MOST_CELLS))
    arrays = [(name, value) for name, value in cells if type(value) is sys.modules["numpy"].ndarray]
    kept = field("storage_map", f"{len(arrays)} of {len(cells)} cells hold an array")
    layers = [Layer("wrapper", type_name(type(x)), evidence=(kept,), would=("a call",))]
    layers += [_cell_layer(name, value) for name, value in arrays[:MOST_NAMED]]
    return Told(tuple(layers), findings=tuple(_lent(x)), layers_left_out=max(len(arrays) - MOST_NAMED, 0))


def _lent(function: Any) -> Iterator[Finding]:
    """Writes to the caller's arrays: mutable inputs, and results that the next call reuses."""
    maker = _stored(function, "maker")
    inputs, outputs = _stored(maker, "inputs"), _stored(maker, "outputs")
    for one in inputs if type(inputs) is list else ():
        if _stored(one, "mutable") is True and _stored(one, "implicit") is not True:
            what = f"a call may write into its argument {_name(one)}: In(mutable=True)"
            yield finding("unnoticed-write", what, do="f(a.copy())")
    for one in outputs if type(outputs) is list else ():
        if _stored(one, "borrow") is True:
            what = "the next call may write into the result of this call: Out(borrow=True)"
            yield finding("unnoticed-write", what, do="f(a).copy()")


def _name(one: Any) -> str:
    name = _stored(_stored(one, "variable"), "name")
    return name if type(name) is str else "without a name"


def _cell_layer(name: str, value: Any) -> Layer:
    (block,) = NUMPY.elements(value)
    title: Any = "owned" if NUMPY.owns(value) is True else "view"
    what = f"{name} {block.format} {block.shape}"
    return Layer("buffer", what, title=title, spans=NUMPY.spans(value), depth=1)


def _values(x: Any) -> Iterator[tuple[str, Any]]:
    """(where, value) of each stored value; nothing for a variable that is only a recipe."""
    name = type_name(type(x))
    if _is_function(x):
        yield from islice(_cells(x), MOST_CELLS)
    elif name == "Container":
        yield "storage[0]", _cell(x)
    elif name.endswith("SharedVariable"):
        yield "container.storage[0]", _cell(_get(x, "container"))
    elif name == "TensorConstant":
        yield "data", _get(x, "data")


def _cells(function: Any) -> Iterator[tuple[str, Any]]:
    """(variable, value) of a compiled function's storage map; values are None before and after a call."""
    for variable, cell in list((_stored(_get(function, "vm"), "storage_map") or {}).items())[:MOST_CELLS]:
        if type(cell) is list and cell:
            name = _stored(variable, "name")
            yield name if type(name) is str else type_name(type(variable)), cell[0]


def _thunks(function: Any) -> Iterator[tuple[str, str]]:
    """(op, path of its generated C) of each thunk, in the order of execution."""
    thunks = _stored(_get(function, "vm"), "thunks")
    for thunk in thunks[:MOST_NAMED] if type(thunks) is list else ():
        compiled = _stored(thunk, "thunk")
        nodes, library = _stored(compiled, "nodes"), _stored(_stored(compiled, "module"), "__file__")
        if type(nodes) is list and nodes and type(library) is str:
            yield (
                f"thunk of {type_name(type(_stored(nodes[0], 'op')))}",
                str(Path(library).with_name(GENERATED)),
            )
        else:
            yield "thunk", "runs in Python"


def _cell(container: Any) -> Any:
    storage = _get(container, "storage")
    return storage[0] if type(storage) is list and storage else None


def _is_function(x: Any) -> bool:
    return type_name(type(x)) == "Function" and type_module(type(x)).startswith("pytensor.compile")


def _get(x: Any, name: str) -> Any:
    return object.__getattribute__(x, name)


def _stored(x: Any, name: str) -> Any:
    try:
        return _get(x, name)
    except AttributeError:
        return None


ADAPTER = PytensorVariables()
