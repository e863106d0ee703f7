"""What tensors, storages and graph nodes own in C++, read from memory: no wrapper is made, no hook runs."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any, Final

from inspector.adapters.beyond import ODD, Beyond, Counted
from inspector.objects.layouts import torch_nodes
from inspector.objects.layouts.shared_pointers import block_bytes
from inspector.objects.layouts.torch_nodes import FUNCTION_NODE, is_undefined
from inspector.objects.layouts.torch_tensors import (
    COUNT,
    Storage,
    class_of,
    quantizer,
    storage,
    tensor,
    words_at,
)

SAVED: Final = "torch saved tensor in C++"
STORAGE, TENSOR, NODE = "torch storage", "torch tensor in C++", "torch graph node"
NONE: Final = (0, 0)
COUNTER, QUANTIZER = "torch counter of writes", "torch quantizer"
COW = "torch copy-on-write block"
HEADER: Final = 8
"""Bytes of glibc before each block, which are freed with it."""
MOST_ROWS: Final = 200_000
CDATA_WORD: Final = 2
"""Word of the pointer to the C++ object in THPVariable, THPStorage and THPCppFunction."""

Exporter = Callable[[Storage], tuple[bool, Any]]
"""(whether another library frees the bytes, the Python object by which it does, or None)."""


class Walk:
    """Follows what C++ objects own."""

    def __init__(self, beyond: Beyond, exporter: Exporter) -> None:
        self.beyond, self.exporter = beyond, exporter
        self.open = list[tuple[Callable[[int], None], int]]()

    def add(self, x: Any, is_function: bool) -> None:
        """What one Python object owns: its tensor, storage or node."""
        if id(x) in self.beyond.rows:
            return
        address = words_at(id(x) + 8 * (FUNCTION_NODE if is_function else CDATA_WORD), 1)[0]
        kind = class_of(address)
        follow = self._storage if kind == "StorageImpl" else self._tensor if "Tensor" in kind else self._node
        self.beyond.add(Counted(id(x), 0, 0, "", NONE, self._owned(follow, address)))
        self._drain()

    def add_saved(self, x: Any) -> None:
        """What a SavedTensor of Python's owns; nothing once it was reset."""
        block = cdata(id(x))
        if id(x) not in self.beyond.rows and (one := torch_nodes.saved_at(block)) is not None:
            self.beyond.add(Counted(id(x), 0, 0, "", NONE, (block | ODD,)))
            self._row(block, 1, SAVED, self._saved(one), one.hook)
            self._drain()

    def _drain(self) -> None:
        while self.open and not self.beyond.why:
            follow, address = self.open.pop()
            if address | ODD not in self.beyond.rows:
                follow(address)
            if len(self.beyond.rows) > MOST_ROWS:
                self.beyond.why = f"more than {MOST_ROWS:,} tensors and nodes"

    def _owned(self, follow: Callable[[int], None], *addresses: int) -> tuple[int, ...]:
        """References to C++ objects, which are followed later."""
        there = [address for address in addresses if address and self._is_there(address)]
        self.open += [(follow, address) for address in there]
        return tuple(address | ODD for address in there)

    def _is_there(self, address: int) -> bool:
        """Whether it is not the one tensor that stands for none."""
        return address | ODD in self.beyond.rows or not is_undefined(address)

    def _wrapper(self, address: int, wrapper: int, references: int) -> tuple[int, ...]:
        """A Python object owns its C++ object, which owns it as long as others refer to that too."""
        if not wrapper:
            return ()
        if wrapper not in self.beyond.rows:
            self.beyond.add(Counted(wrapper, 0, 0, "", NONE, (address | ODD,)))
        return (wrapper,) if references > 1 else ()

    def _row(self, address: int, references: int, kind: str, owns: tuple[int, ...], *blocks: int) -> None:
        """`blocks`: those that it alone owns, 0 for none."""
        size = sum(HEADER + block_bytes(block) for block in (address, *blocks) if block)
        self.beyond.add(Counted(address | ODD, references, size, kind, NONE, owns))

    def _tensor(self, address: int) -> None:
        found = tensor(address)
        if found is None:
            self.beyond.why = "a tensor of a C++ class that is not known here"
            return
        owns = self._owned(self._storage, found.storage.address if found.storage else 0)
        owns += self._owned(self._tensor, *(part.address for part in found.parts))
        owns += self._owned(self._quantizer, found.quantizer)
        if found.autograd:
            of = torch_nodes.meta(found.autograd)
            if of is None:
                self.beyond.why = "a tensor's autograd fields are not known here"
                return
            if not of.is_read:
                self.beyond.why = "a view whose function keeps tensors that are not known here"
            owns += self._owned(self._tensor, of.gradient, *of.bases) + self._owned(self._node, of.function)
            owns += (of.hooks,) if of.hooks else ()
        owns += self._wrapper(address, found.wrapper, found.references)
        alone = found.counter if found.counter and words_at(found.counter, 2)[1] & COUNT == 1 else 0
        if found.counter and not alone:
            owns += self._owned(self._counter, found.counter)
        self._row(address, found.references, TENSOR, owns, found.autograd, alone)

    def _quantizer(self, address: int) -> None:
        found = quantizer(address)
        if found is None:
            self.beyond.why = "a quantized tensor of a kind that is not known here"
            return
        self._row(address, found[0], QUANTIZER, self._owned(self._tensor, *found[1]))

    def _counter(self, address: int) -> None:
        """Of writes, which a tensor shares with its views."""
        self._row(address, words_at(address, 2)[1] & COUNT, COUNTER, ())

    def _node(self, address: int) -> None:
        found = torch_nodes.node(address)
        if found is None or not found.kind:
            self.beyond.why = "a node of a C++ class that is not known here"
            return
        if not all(found.hooks):
            self.beyond.why = "a hook in C++: only its code knows what it keeps"
        owns = self._owned(self._node, *found.following) + tuple(filter(None, found.hooks))
        for one in found.saved:
            owns += self._saved(one)
        for other in found.others:
            owns += self._owned(self._tensor if "Tensor" in class_of(other) else self._node, other)
        owns += self._wrapper(address, found.wrapper, found.references)
        self._row(address, found.references, NODE, owns, *found.blocks)

    def _saved(self, one: torch_nodes.Saved) -> tuple[int, ...]:
        owns = self._owned(self._tensor, one.tensor) + self._owned(self._node, *one.nodes)
        return owns + self._packed(one.hook)

    def _packed(self, hook: int) -> tuple[int, ...]:
        """The Python objects behind a saved tensor that hooks packed."""
        held = torch_nodes.held_by_hooks(hook) if hook else ()
        if hook and not held:
            self.beyond.why = "a hook in C++ packed saved tensors: only its code knows what it keeps"
        return held

    def _storage(self, address: int) -> None:
        found = storage(address)
        if found is None:
            self.beyond.why = "a storage that is not known here"
            return
        owns = self._wrapper(address, found.wrapper, found.tensors)
        foreign, exporter = self.exporter(found)
        if foreign and exporter is None:
            self.beyond.why = "memory of another library: the deleter does not tell whose"
        whole = found.context if found.context != found.start else 0
        whole = whole if class_of(whole) == "StorageImpl" else 0
        owns += self._owned(self._storage, whole)  # it shows a part of that storage's bytes
        size = 0 if foreign or whole or found.is_cow or not found.start else found.bytes
        span = (found.start, found.start + found.bytes)
        if found.is_cow:
            block = found.context | ODD
            self.beyond.add(Counted(block, found.cow_holders, found.bytes, COW, span, ()))
            owns += (block,)
        if exporter is not None:
            owns += (id(exporter),)
        own, span = HEADER + block_bytes(address) + size, span if size else NONE
        self.beyond.add(Counted(address | ODD, found.tensors, own, STORAGE, span, owns))


def cdata(address: int) -> int:
    """The C++ object of one of torch's Python objects."""
    return words_at(address, CDATA_WORD + 1)[CDATA_WORD]
