"""torch.nn.Module and torch.optim.Optimizer: their tensors by name, read from their dicts and C++ structs."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from inspector.adapters.base import Adapter, Elements, stored, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.told import Layer, Told, field
from inspector.adapters.torch_parts import Sums
from inspector.adapters.torch_tensors import ADAPTER as TENSORS
from inspector.adapters.torch_tensors import is_plain, is_tensor
from inspector.facts.amounts import counted
from inspector.facts.model import Model, ModelPart
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases

MODULE, OPTIMIZER = "nn.modules.module.Module", "optim.optimizer.Optimizer"
MOST_PARTS: Final = 12
MOST_MODULES: Final = 100_000
Found = tuple[str, Any, int]
"""(path, module, depth)."""


class _Row(NamedTuple):
    """A module with its own tensors; with `below`, the bytes are those of the modules below it too."""

    path: str
    module: Any
    depth: int
    named: list[tuple[str, Any, bool]]
    bytes: int
    gradient_bytes: int
    below: int = 0


class TorchModules(Adapter):
    """nn.Module and Optimizer with their subclasses: what their own dicts store."""

    library = "torch"
    versions = ("2.13", "2.14")
    inherited = (MODULE, OPTIMIZER)

    def is_ready(self) -> bool:
        """After the whole of torch is imported."""
        return "torch.optim.optimizer" in sys.modules and is_plain()

    def self_test(self) -> None:
        """A module keeps its parameters in _parameters."""
        told = self.model(sys.modules["torch"].nn.Identity())
        if told is None or (told.parameters, told.bytes) != (0, 0):
            raise ValueError("torch.nn.Module does not keep its parameters in _parameters")

    def owns(self, x: Any) -> bool | Unknown:
        """Unknown: its tensors own the bytes."""
        return Unknown("its tensors own the bytes")

    def layers(self, x: Any) -> Told:
        """The object; its tensors are objects of their own."""
        kept = "param_groups" if _is_optimizer(x) else "_parameters"
        layer = Layer("wrapper", type_name(type(x)), "computed", "none", evidence=(field(kept, "stored"),))
        return Told((layer,), logical_bytes=Unknown("see its tensors"))

    def model(self, x: Any) -> Model | None:
        """Its tensors by name; None if it does not keep them in dicts of its own (a script module)."""
        if _is_optimizer(x):
            return _of_optimizer(x)
        return _of_module(x) if _dict(x, "_parameters") is not None else None

    def pieces(self, x: Any) -> Iterator[tuple[str, tuple[Elements, ...]]]:
        """The blocks of its tensors, by path; of an optimizer those of its parameters."""
        for path, tensor in _parameters(x) if _is_optimizer(x) else _all_tensors(x):
            yield path, TENSORS.elements(tensor)

    def beside(self, x: Any) -> Iterator[tuple[str, tuple[Elements, ...]]]:
        """The gradients of its tensors; an optimizer's state of each parameter."""
        for _, tensor in _parameters(x) if _is_optimizer(x) else _all_tensors(x):
            yield from (("gradients", found) for _, found in TENSORS.beside(tensor))
        for _, kept in _states(x) if _is_optimizer(x) else ():
            yield from (("state", TENSORS.elements(one)) for one in kept.values() if is_tensor(one))

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number, as torch prints it."""
        return TENSORS.text(block, raw)

    def beyond(self, x: Any, found: Beyond) -> None:
        """A script module keeps its tensors in a C++ object that is not followed."""
        if stored(x, "_c") is not None:
            found.why = "a script module keeps its tensors in C++"


def _is_optimizer(x: Any) -> bool:
    return sys.modules["torch.optim.optimizer"].Optimizer in type_bases(type(x))


def _dict(x: Any, name: str) -> dict[str, Any] | None:
    found = stored(x, name)
    return found if isinstance(found, dict) else None


def _of_module(x: Any) -> Model:
    sums, rows = Sums(), list[_Row]()
    for path, module, depth in _modules(x):
        before, gradients = sums.own_bytes, sums.gradient_bytes
        named = list(_tensors(module))
        for name, tensor, is_parameter in named:
            sums.add(f"{path}.{name}" if path else name, tensor, is_parameter)
        grown = sums.own_bytes - before, sums.gradient_bytes - gradients
        rows.append(_Row(path, module, depth, named, *grown))
    parts = _shown(rows)
    shown = tuple(_part(row, sums) for row in parts[:MOST_PARTS])
    return sums.model(shown, max(len(parts) - MOST_PARTS, 0))


def _part(row: _Row, sums: Sums) -> ModelPart:
    own = ", ".join(f"{name} {sums.shape(tensor)}" for name, tensor, _ in row.named)
    what = counted(row.below, "module") if row.below else own
    return ModelPart(row.path, type_name(type(row.module)), what, row.bytes, row.gradient_bytes, 0)


def _modules(root: Any) -> Iterator[Found]:
    """Every module with its path, in the order of the tree; one that is there twice, twice."""
    waiting: list[tuple[str, Any, tuple[int, ...]]] = [("", root, ())]
    many = 0
    while waiting and many < MOST_MODULES:
        path, module, above = waiting.pop()
        many += 1
        yield path, module, len(above)
        if not (below := _dict(module, "_modules")):
            continue
        inner = [
            (f"{path}.{name}" if path else name, one, (*above, id(module)))
            for name, one in list(below.items())
            if one is not None and id(one) not in above and one is not module
        ]
        waiting += reversed(inner)


def _tensors(module: Any) -> Iterator[tuple[str, Any, bool]]:
    """(name, tensor, whether it is a parameter) of a module's own."""
    for kept in ("_parameters", "_buffers"):
        if own := _dict(module, kept):
            yield from (
                (name, one, kept == "_parameters") for name, one in list(own.items()) if one is not None
            )


def _all_tensors(x: Any) -> Iterator[tuple[str, Any]]:
    for path, module, _ in _modules(x):
        yield from ((f"{path}.{name}" if path else name, tensor) for name, tensor, _ in _tensors(module))


def _shown(rows: list[_Row]) -> list[_Row]:
    """The modules with tensors; where they are many, the modules one step below with their sums."""
    own = [row for row in rows if row.named]
    if len(own) <= MOST_PARTS:
        return own
    sums = list[_Row]()
    for row in rows:
        if row.depth <= 1:
            sums.append(row)
        else:
            last = sums[-1]
            size, gradient = last.bytes + row.bytes, last.gradient_bytes + row.gradient_bytes
            sums[-1] = last._replace(bytes=size, gradient_bytes=gradient, below=last.below + 1)
    return [row for row in sums if row.bytes or row.path]


def _parameters(x: Any) -> Iterator[tuple[str, Any]]:
    """(path, tensor) of an optimizer's parameters."""
    groups = stored(x, "param_groups")
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        for at, tensor in enumerate(group["params"]):
            yield f"params[{at}]" if len(groups) == 1 else f"group {number} params[{at}]", tensor


def _states(x: Any) -> list[tuple[Any, dict[Any, Any]]]:
    """(parameter, what an optimizer keeps for it)"""
    state = stored(x, "state")
    rows = list(dict.items(state)) if isinstance(state, dict) else []
    return [(tensor, kept) for tensor, kept in rows if isinstance(kept, dict)]


def _of_optimizer(x: Any) -> Model | None:
    if not isinstance(stored(x, "param_groups"), list) or not isinstance(stored(x, "state"), dict):
        return None
    sums, rows = Sums(is_optimizer=True), list[ModelPart]()
    states = {id(tensor): kept for tensor, kept in _states(x)}
    for path, tensor in _parameters(x):
        before = (sums.own_bytes, sums.gradient_bytes)
        sums.add(path, tensor, True)
        more = sums.add_state(states.get(id(tensor)))
        grown = sums.own_bytes - before[0], sums.gradient_bytes - before[1]
        rows.append(ModelPart(path, type_name(type(tensor)), sums.shape(tensor), *grown, more))
    rows.sort(key=lambda row: -(row.bytes + row.state_bytes))
    return sums.model(tuple(rows[:MOST_PARTS]), max(len(rows) - MOST_PARTS, 0))


ADAPTER = TorchModules()
