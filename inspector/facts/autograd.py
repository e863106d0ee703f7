"""The graph that a result keeps for backward(): its nodes, and the tensors that they saved."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """A tensor that a node saved."""

    node: str
    """The node's class: "PowBackward0"."""
    what: str
    """"float32 (2000, 1000)"."""
    bytes: int
    """Of its storage."""
    again: str
    """"a parameter", "saved before": its storage is not counted here; else ""."""


@dataclass(frozen=True, slots=True)
class Autograd:
    """The graphs behind one tensor or node, or behind all that a container holds."""

    results: int
    """Tensors and nodes that have a graph."""
    scalars: int
    """How many of them are tensors of one element."""
    nodes: int | Unknown
    """Nodes of all graphs, each once, without those that collect a leaf's gradient."""
    saved_bytes: int | Unknown
    """Of the storages that nodes saved, each once, without those of parameters and other leaves."""
    freed: int
    """Nodes whose saved tensors backward() has freed."""
    retained_bytes: int | Unknown
    """What deleting the object would free, with the graph: as `retained` says."""
    saved: tuple[SavedTensor, ...] = ()
    saved_left_out: int = 0
    never_freed_bytes: int | Unknown = 0
    """Of what nothing frees once the object is deleted: hooks packed tensors that lead back to the graph."""

    def __repr__(self) -> str:
        return f"<Autograd: {self.nodes} nodes, {self.saved_bytes} bytes saved>"
