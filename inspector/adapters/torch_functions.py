"""Nodes of torch's graph, built-in ones and those of Python: what they saved, whether backward freed it."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from inspector.adapters.base import Adapter, type_module, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.adapters.torch_beyond import CDATA_WORD, Walk
from inspector.adapters.torch_graph import graph_of
from inspector.adapters.torch_tensors import is_plain, lent
from inspector.facts.amounts import counted
from inspector.facts.autograd import Autograd
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases, type_namespace
from inspector.objects.layouts.torch_nodes import FUNCTION_NODE, Node, learn_hooks, node
from inspector.objects.layouts.torch_tensors import words_at

MOST_NAMED = 6
_MARKS: Final = {"next_functions", "_register_hook_dict", "_input_metadata"}


class TorchFunctions(Adapter):
    """torch._C._FunctionBase (THPFunction) with its subclasses, read by the base's getters; the wrappers of
    built-in nodes (THPCppFunction), whose C++ is read: a getter would make wrappers that stay."""

    library = "torch"
    versions = ("2.13", "2.14")
    inherited = ("_C._FunctionBase",)

    def is_ready(self) -> bool:
        """After the whole of torch is imported, and not where every operation is intercepted."""
        return hasattr(sys.modules["torch"], "autograd") and is_plain()

    def claims(self, kind: type) -> bool:
        """Whether torch made the type for a built-in node: each has its own, without a common base."""
        return type_module(kind) == "builtins" and type_namespace(kind).keys() >= _MARKS

    def self_test(self) -> None:
        """The getters exist; a node without saved tensors has none, and none freed; graphs are read."""
        torch = sys.modules["torch"]
        hooks = torch._C._autograd
        if hooks._top_saved_tensors_default_hooks(True) is None:  # a user's would run
            _read_again(torch)
        hooks._push_saved_tensors_default_hooks(_packing, _packing)
        try:
            _read_again(torch)
        finally:
            hooks._pop_saved_tensors_default_hooks()
        node = torch._C._FunctionBase()
        fields = ("needs_input_grad", "next_functions", "_raw_saved_tensors")
        if any(name not in torch._C._FunctionBase.__dict__ for name in fields) or _saved(node) != ():
            raise ValueError("the getters of torch._C._FunctionBase are not those of torch 2.13")

    def parts(self, x: Any) -> Iterator[tuple[str, Any]]:
        """The saved tensors. Those packed by a hook stay packed: unpacking runs user code."""
        for number, saved in enumerate(() if _is_built_in(x) else _saved(x) or ()):
            if saved.unpack_hook is None and saved.data is not None:
                yield f"saved_tensors[{number}]", saved.data

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The saved tensors, which the node keeps alive for backward."""
        return tuple(self.parts(x))

    def beyond(self, x: Any, found: Beyond) -> None:
        """Its node in C++ and the graph behind it."""
        Walk(found, lent).add(x, not _is_built_in(x))

    def graph(self, held: Sequence[Any]) -> Autograd | None:
        """The graph from these nodes on."""
        return graph_of(filter(None, map(_address, held)), 0)

    def owns(self, x: Any) -> bool | Unknown:
        """Unknown: a node has no bytes of its own."""
        return Unknown("a node of the graph holds tensors, no bytes")

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """needs_input_grad, next_functions, saved_tensors, has_freed_buffers."""
        if _is_built_in(x):
            return _of_cpp(node(_address(x)))
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
        name = type_name(type(x))
        if _is_built_in(x):
            return _told(name, node(_address(x)))
        saved = _saved(x)
        seen = (attribute("saved_tensors", "not called"),)
        wrapper = Layer("wrapper", name, "computed", "none", evidence=seen)
        if saved is None:
            freed = (field("has_freed_buffers", "true"),)
            gone = Layer("container", "saved tensors", "closed", "none", evidence=freed)
            return Told((wrapper, gone), state="freed", logical_bytes=0)
        packed = sum(one.unpack_hook is not None for one in saved)
        what = counted(len(saved), "saved tensor")
        if packed:
            what += f", {packed} packed by a hook"
        below = Layer("container", what, "computed", "none")
        return Told((wrapper, below), logical_bytes=Unknown("see its parts"))


def _packing(x: Any) -> Any:
    return x


def _read_again(torch: Any) -> None:
    """Read a graph of ours; hooks of ours, if they are there, are learned."""
    with torch.inference_mode(False), torch.enable_grad():
        leaf = torch.ones(2, device="cpu", dtype=torch.float32, requires_grad=True)
        start = leaf.exp().mul(leaf).grad_fn
    found = node(_address(start))
    for one in found.saved if found is not None else ():
        if one.hook and not learn_hooks(one.hook, (id(_packing), id(_packing))):
            raise ValueError("torch's hooks of saved tensors do not lie as in torch 2.13")
    told = graph_of([_address(start)], 0)
    if told is None or (told.nodes, told.saved_bytes, told.freed, len(told.saved)) != (2, 8, 0, 3):
        raise ValueError("torch::autograd::Node does not lie as in torch 2.13")


def _is_built_in(x: Any) -> bool:
    return sys.modules["torch._C"]._FunctionBase not in type_bases(type(x))


def _address(x: Any) -> int:
    """Address of the node in C++; 0 for a function without one."""
    found = words_at(id(x) + 8 * (CDATA_WORD if _is_built_in(x) else FUNCTION_NODE), 1)[0]
    return found if node(found) else 0


def _of_cpp(found: Node | None) -> tuple[tuple[str, str], ...]:
    if found is None or not found.kind:
        return (("node", "of a C++ class that is not known here"),)
    freed = sum(not one.tensor and not one.hook for one in found.saved)
    following = [of.kind or "unknown" for one in found.following[:MOST_NAMED] if (of := node(one))]
    return (
        ("node", found.kind),
        ("next_functions", ", ".join(following) or "none"),
        ("saved tensors", str(len(found.saved) - freed)),
        ("freed by backward", str(freed)),
    )


def _told(name: str, found: Node | None) -> Told:
    """A built-in node and its saved tensors: present, packed by hooks, or freed by backward."""
    seen = (field("torch::autograd::Node", found.kind if found is not None else "not read"),)
    if found is None or not found.kind:
        why = Unknown(f"{name} is of a C++ class that is not known here")
        return Told((Layer("wrapper", name, why, why, why, seen),), state=why)
    wrapper = Layer("wrapper", name, "computed", "none", evidence=seen)
    if any(not one.tensor and not one.hook for one in found.saved):
        gone = Layer("container", "saved tensors", "closed", "none", evidence=(field("data_", "undefined"),))
        return Told((wrapper, gone), state="freed", logical_bytes=0)
    below = Layer("container", counted(len(found.saved), "saved tensor"), "computed", "none")
    return Told((wrapper, below), logical_bytes=Unknown("see its graph"))


def _saved(x: Any) -> tuple[Any, ...] | None:
    """SavedTensor wrappers, which the getter makes without running a hook; None after they were freed."""
    try:
        return tuple(_field(x, "_raw_saved_tensors") or ())
    except RuntimeError:  # what torch raises after backward
        return None


def _field(x: Any, name: str) -> Any:
    return sys.modules["torch._C"]._FunctionBase.__dict__[name].__get__(x)


ADAPTER = TorchFunctions()
