"""torch's graph as its readers know it: nodes in order, and what each saved. Nothing is called."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Final

from inspector.adapters.torch_beyond import cdata
from inspector.facts.autograd import Autograd, SavedTensor
from inspector.facts.unknown import Unknown
from inspector.objects.layouts.torch_dtypes import dtype_name
from inspector.objects.layouts.torch_nodes import LEAF, PYTHON, Node, Saved, held_by_hooks, meta, node
from inspector.objects.layouts.torch_tensors import Tensor, class_of, tensor

MOST_NODES: Final = 200_000
MOST_SAVED: Final = 8
IN_GRAPH: Final = "in a graph"
"""What is said of a tensor that was computed by a node."""
_PACKED: Final = Unknown("hooks packed saved tensors into objects that are no tensors")
_STRANGE: Final = Unknown("a node or tensor of a C++ class that is not known here")


def graph_of(starts: Iterable[int], scalars: int) -> Autograd | None:
    """The graphs behind nodes at these addresses; None without one."""
    starts = list(starts)
    found, why = _nodes(starts)
    if not starts:
        return None
    inner = [one for one in found if one.kind != LEAF]
    saved, size = _saved(found)
    shown = tuple(saved[:MOST_SAVED])
    packed = any(one.hook and not _tensor_of(one) for row in inner for one in row.saved)
    known = why or (_PACKED if packed else size)
    freed = sum(_is_freed(one) for one in inner)
    many: int | Unknown = why or len(inner)
    return Autograd(len(starts), scalars, many, known, freed, known, shown, len(saved) - len(shown))


def function_of(found: Tensor) -> int:
    """Address of a tensor's grad_fn; 0 without one."""
    of = meta(found.autograd) if found.autograd else None
    return of.function if of is not None else 0


def autograd_text(found: Tensor) -> str:
    """What its autograd fields say: those of a plain view only say of what it is one."""
    of = meta(found.autograd) if found.autograd else None
    if of is None:
        return IN_GRAPH if found.autograd else "no"
    return IN_GRAPH if of.function else "requires_grad" if of.wants_gradient else "no"


def _nodes(starts: list[int]) -> tuple[list[Node], Unknown | None]:
    """Nodes from the result on, each once; why they are not all."""
    seen, found = set[int](), list[Node]()
    for start in starts:
        waiting = [start]
        for address in waiting:
            if address in seen:
                continue
            seen.add(address)
            one = node(address)
            if one is None or not one.kind or len(found) > MOST_NODES:
                return found, _STRANGE
            found.append(one)
            others = () if one.kind == LEAF else filter(node, one.others)
            waiting += (*one.following, *(n for of in one.saved for n in of.nodes), *others)
    return found, None


def _saved(found: list[Node]) -> tuple[list[SavedTensor], int]:
    """What nodes saved, and the bytes of the storages, each once, without those of leaves."""
    leaves = {_storage(other) for one in found if one.kind == LEAF for other in one.others}
    seen, rows, size = set[int](), list[SavedTensor](), 0
    for one in found:
        for saved in one.saved:
            if (kept := tensor(_tensor_of(saved))) is None:
                continue
            place, bytes_ = (kept.storage.start, kept.storage.bytes) if kept.storage is not None else (0, 0)
            again = "a parameter" if place in leaves else "saved before" if place in seen else ""
            size += 0 if again else bytes_
            seen.add(place)
            rows.append(SavedTensor(_called(one), f"{dtype_name(kept.dtype)} {kept.shape}", bytes_, again))
    return rows, size


def _tensor_of(saved: Saved) -> int:
    """Address of what was saved; of what hooks made a tensor of, that one; 0 of anything else."""
    held = held_by_hooks(saved.hook)[2:] if saved.hook else ()
    made = cdata(held[0]) if held else 0
    return made if made and class_of(made).endswith("TensorImpl") else saved.tensor


def _called(one: Node) -> str:
    return "a function in Python" if one.kind == PYTHON else one.kind


def _storage(address: int) -> int:
    found = tensor(address)
    return found.storage.start if found is not None and found.storage is not None else 0


def _is_freed(one: Node) -> bool:
    return any(not saved.tensor and not saved.hook for saved in one.saved)
