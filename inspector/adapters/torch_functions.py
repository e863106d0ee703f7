"""torch.autograd.Function: graph nodes, their saved tensors, and whether backward freed them."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.facts.amounts import counted
from inspector.facts.unknown import Unknown

MOST_NAMED = 6


class TorchFunctions(Adapter):
    """torch._C._FunctionBase (THPFunction) with its subclasses, read by the base's getters."""

    library = "torch"
    versions = ("2.13", "2.14")
    inherited = ("_C._FunctionBase",)

    def is_ready(self) -> bool:
        """After the whole of torch is imported."""
        return hasattr(sys.modules["torch"], "autograd") and hasattr(sys.modules["torch"], "Tensor")

    def self_test(self) -> None:
        """The getters exist; a node without saved tensors has none, and none freed."""
        torch = sys.modules["torch"]
        node = torch._C._FunctionBase()
        fields = ("needs_input_grad", "next_functions", "_raw_saved_tensors")
        if any(name not in torch._C._FunctionBase.__dict__ for name in fields) or _saved(node) != ():
            raise ValueError("the getters of torch._C._FunctionBase are not those of torch 2.13")

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """The saved tensors. Those packed by a hook stay packed: unpacking runs user code."""
        for number, saved in enumerate(_saved(x) or ()):
            if saved.unpack_hook is None and saved.data is not None:
                yield f"saved_tensors[{number}]", saved.data

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The saved tensors, which the node keeps alive for backward."""
        return tuple(self.parts(x))

    def owns(self, x: Any) -> bool | Unknown:
        """Unknown: a node has no bytes of its own."""
        return Unknown("a node of the graph holds tensors, no bytes")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """needs_input_grad, next_functions, saved_tensors, has_freed_buffers."""
        saved, following = _saved(x), _field(x, "next_functions") or ()
        shown = [type_name(type(node)) for node, _ in following[:MOST_NAMED] if node is not None]
        return (
            ("needs_input_grad", str(_field(x, "needs_input_grad"))),
            ("next_functions", ", ".join(shown) or "none"),
            ("saved_tensors", "freed" if saved is None else str(len(saved))),
            ("has_freed_buffers", str(saved is None).lower()),
        )

    def layers(self, x: Any) -> Told:
        """The node, then its saved tensors: present, packed by hooks, or freed by backward."""
        name, saved = type_name(type(x)), _saved(x)
        seen = (attribute("saved_tensors", "not called"),)
        node = Layer("wrapper", name, "computed", "none", evidence=seen)
        if saved is None:
            freed = (field("has_freed_buffers", "true"),)
            gone = Layer("container", "saved tensors", "closed", "none", evidence=freed)
            return Told((node, gone), state="freed", logical_bytes=0)
        packed = sum(one.unpack_hook is not None for one in saved)
        what = counted(len(saved), "saved tensor")
        if packed:
            what += f", {packed} packed by a hook"
        below = Layer("container", what, "computed", "none")
        return Told((node, below), logical_bytes=Unknown("see its parts"))


def _saved(x: Any) -> tuple[Any, ...] | None:
    """SavedTensor wrappers, which the getter makes without running a hook; None after they were freed."""
    try:
        return tuple(_field(x, "_raw_saved_tensors") or ())
    except RuntimeError:  # what torch raises after backward
        return None


def _field(x: Any, name: str) -> Any:
    return sys.modules["torch._C"]._FunctionBase.__dict__[name].__get__(x)


ADAPTER = TorchFunctions()
