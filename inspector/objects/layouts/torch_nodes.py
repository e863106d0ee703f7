"""Read torch's autograd graph from memory: a wrapper that a getter makes stays as long as its node.

torch::autograd::Node, SavedVariable and AutogradMeta of torch 2.13 (torch/csrc/autograd/node.h,
saved_variable.h, variable.h) as words of 8 bytes. Saved tensors lie behind the Node, at places that differ by
class: they are found by the form of SavedVariable. Before use, the adapter compares a graph of its own.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from inspector.facts.record import dataclass
from inspector.objects.layouts.shared_pointers import block_bytes
from inspector.objects.layouts.torch_tensors import (
    COUNT,
    HAS_WRAPPER,
    MOST_DIMENSIONS,
    UNDEFINED,
    class_at,
    class_of,
    words_at,
)

EDGES, WRAPPER, SHAPES = 11, 14, 32
HOOKS: Final = (16, 19, 29)
"""Words of a Node's vectors of hooks: before it, before it by tensor, after it."""
NODE_WORDS: Final = 58
"""Words of a Node without the fields of its class."""
SAVED_WORDS: Final = 10
EDGE_WORDS: Final = 2
FUNCTION_SAVED, FUNCTION_NODE = 17, 27
"""Words of THPFunction: its vector of SavedVariable, its PyNode."""
GRAD, GRAD_FN, LEAF_HOOKS, TRUTHS, META_WORDS = 5, 6, 15, 16, 38
VIEWS: Final = ((23, 29), (30, 36))
"""DifferentiableViewMeta: word of a base, and of the byte that says whether it is there."""
REVERSE, MANAGER = 2, 4
"""Words from a base to the function that makes it of the view: its block, which begins with the base too, and
what copies it, 0 where there is no function."""
CHAINED, MOST_CHAINED = 7, 64
"""Word of the block of a view's view: that of the function of the view."""
MOST_SAVED: Final = 10_000
_NOT_TRUTHS: Final = 0xFE_FE_FE_FE_FF
"""Bits that are 0 in the five truths of a SavedVariable that was filled."""
HOOK_WORDS: Final = 4
_HOOKS = set[int]()
"""Virtual tables of hooks in Python."""
_UNDEFINED = set[int]()
_DICTS: Final = (id(dict), id(OrderedDict))
LEAF: Final = "AccumulateGrad"
PYTHON: Final = "PyNode"
_NO_NODES: Final = ("Impl", "Meta", UNDEFINED)
_PLAIN: Final = {LEAF, "CopySlices"}
"""Classes that refer to tensors and nodes without a SavedVariable."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A SavedVariable that was filled."""

    tensor: int
    """Address of the TensorImpl; 0 where a hook packed it, or backward() freed it."""
    nodes: tuple[int, ...]
    """Nodes that it refers to."""
    hook: int
    """Address of the hooks that packed it; 0: none did."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph and what it refers to."""

    address: int
    kind: str
    """C++ class: "AddmmBackward0"; "PyNode" of a function in Python; "" if unknown."""
    references: int
    wrapper: int
    following: tuple[int, ...]
    saved: tuple[Saved, ...]
    others: tuple[int, ...]
    """TensorImpls and nodes that it refers to as they are."""
    hooks: tuple[int, ...]
    """The dicts of its hooks in Python; 0 for a hook in C++."""
    blocks: tuple[int, ...]
    """The allocator's blocks: its edges, the shapes of more than two gradients, hooks; 0 for none."""


def node(address: int) -> Node | None:
    """The node at an address, or None if nothing is there."""
    words = words_at(address, max(block_bytes(address) // 8, NODE_WORDS)) if class_of(address) else ()
    words = words or words_at(address, NODE_WORDS)  # of Python, or no node: its block may not be the malloc's
    if not words[0]:
        return None
    if class_at(words[0]).endswith(_NO_NODES):
        return None
    wrapper = words[WRAPPER] if words[1] & HAS_WRAPPER else 0
    kind = class_at(words[0]) or (PYTHON if _is_of_python(address, wrapper) else "")
    following = tuple(filter(None, words_of(words[EDGES], words[EDGES + 1], EDGE_WORDS)))
    fields = words[NODE_WORDS:] if kind != PYTHON else ()
    saved = tuple(_saved_in(fields)) if kind != PYTHON else tuple(_saved_by_python(wrapper))
    others = tuple(filter(_is_counted, fields)) if kind in _PLAIN else ()
    hooks = tuple(_dict_of(one) for at in HOOKS for one in words_of(words[at], words[at + 1], 1))
    shapes = words[SHAPES] if not address < words[SHAPES] < address + 8 * NODE_WORDS else 0
    blocks = (words[EDGES], shapes, *(one.hook for one in saved))
    return Node(address, kind, words[1] & COUNT, wrapper, following, saved, others, hooks, blocks)


def _dict_of(hook: int) -> int:
    """The dict of Python functions behind a hook; 0 where it has none."""
    held = words_at(hook, 2)[1]
    return held if held and words_at(held, 2)[1] in _DICTS else 0


def words_of(start: int, stop: int, step: int) -> tuple[int, ...]:
    """The first word of each item of a std::vector whose items have `step` words."""
    count = (stop - start) // 8
    return words_at(start, count)[::step] if 0 < count <= MOST_SAVED * step else ()


@dataclass(frozen=True, slots=True)
class Meta:
    """A tensor's AutogradMeta: addresses, 0 where there is nothing."""

    gradient: int
    function: int
    """Its grad_fn."""
    bases: tuple[int, ...]
    """The tensors that it is a view of, once for each reference to them."""
    wants_gradient: bool
    """A leaf's requires_grad."""
    hooks: int
    """The dict of the Python functions that run when its gradient was added to."""
    is_read: bool = True
    """False of a view with a function that keeps more than its base."""


def meta(address: int) -> Meta | None:
    """The AutogradMeta at an address; None if it is of an unknown class."""
    words = words_at(address, TRUTHS + 1)
    kind = class_at(words[0])
    if not kind.endswith("Meta"):
        return None
    bases = tuple(_bases(words_at(address, META_WORDS))) if kind == "DifferentiableViewMeta" else ()
    gradient = words[GRAD] if words[GRAD] not in _UNDEFINED and not is_undefined(words[GRAD]) else 0
    hooks = _dict_of(words[LEAF_HOOKS]) if words[LEAF_HOOKS] else 0
    is_read = kind != "DifferentiableViewMeta" or _is_read(words_at(address, META_WORDS))
    return Meta(gradient, words[GRAD_FN], bases, bool(words[TRUTHS] & 0xFF), hooks, is_read)


def _bases(words: tuple[int, ...]) -> Iterator[int]:
    for base, there in VIEWS:
        if words[there] & 1:
            yield words[base]
            if _captures(words[base + REVERSE], words[base]):
                yield words[base]


def _is_read(words: tuple[int, ...]) -> bool:
    """Whether the functions of a view keep no more than its bases."""
    there = [base for base, there in VIEWS if words[there] & 1 and words[base + MANAGER]]
    return all(_captures(words[base + REVERSE], words[base]) for base in there)


def _captures(block: int, base: int) -> bool:
    """Whether the block of a function begins with a base, or that of the function which it calls last does.

    That one lies behind two vectors, of sizes and of strides, and an offset.
    """
    for _ in range(MOST_CHAINED):
        words = words_at(block, CHAINED + 1)
        if words[0] == base or not block:
            return bool(block)
        sizes, strides = words[1] - words[0], words[4] - words[3]
        if not 0 < sizes == strides <= 8 * MOST_DIMENSIONS:
            return False
        block = words[CHAINED]
    return False


def is_undefined(address: int) -> bool:
    """Whether it is the one tensor that stands for none: static, so it is looked up once."""
    if not _UNDEFINED and class_of(address) == UNDEFINED:
        _UNDEFINED.add(address)
    return address in _UNDEFINED


def _is_of_python(address: int, wrapper: int) -> bool:
    return bool(wrapper) and words_at(wrapper, FUNCTION_NODE + 1)[FUNCTION_NODE] == address


def _saved_by_python(wrapper: int) -> Iterator[Saved]:
    words = words_at(wrapper, FUNCTION_NODE + 1)
    yield from _saved_between(words[FUNCTION_SAVED], words[FUNCTION_SAVED + 1])


def _saved_between(start: int, stop: int) -> Iterator[Saved]:
    count = (stop - start) // 8
    if 0 < count <= MOST_SAVED * SAVED_WORDS and count % SAVED_WORDS == 0:
        yield from _saved_in(words_at(start, count))


def _saved_in(words: tuple[int, ...]) -> Iterator[Saved]:
    """The SavedVariables among fields, and those in a vector among them."""
    at = 0
    while at < len(words):
        if not words[at]:
            at += 1
            continue
        found = _saved(words[at : at + SAVED_WORDS])
        if found is not None:
            yield found
            at += SAVED_WORDS
            continue
        if at + 2 < len(words) and _is_vector(*words[at : at + 3]):
            yield from _saved_between(words[at], words[at + 1])
        at += 1


def learn_hooks(address: int, functions: tuple[int, int]) -> bool:
    """Whether hooks of Python lie there as expected; from then on their nameless class is known."""
    words = words_at(address, HOOK_WORDS)
    if words[1:3] != functions or not words[3]:
        return False
    _HOOKS.add(words[0])
    return True


def held_by_hooks(address: int) -> tuple[int, ...]:
    """The functions that pack and unpack, and last what was packed; () of hooks of another class."""
    words = words_at(address, HOOK_WORDS)
    return words[1:] if words[0] in _HOOKS and all(words[1:]) else ()


def _is_vector(start: int, stop: int, end: int) -> bool:
    """Whether three words are a std::vector of SavedVariables, by the first of them."""
    size = 8 * SAVED_WORDS
    if not start or not start < stop <= end or (stop - start) % size or start % 8:
        return False
    return _saved(words_at(start, SAVED_WORDS)) is not None


def saved_at(address: int) -> Saved | None:
    """The SavedVariable at an address; None if it is none, or nothing was saved in it."""
    return _saved(words_at(address, SAVED_WORDS))


def _saved(words: tuple[int, ...]) -> Saved | None:
    """A SavedVariable: tensor, forward gradient, weak node, version, five truths, hooks, two nodes, truth."""
    if len(words) < SAVED_WORDS or not words[0]:
        return None
    if words[5] & _NOT_TRUTHS or words[9] & 0xFE:
        return None
    kind = class_of(words[0])
    nodes = tuple(filter(None, (words[7], words[8])))
    if not kind.endswith(("TensorImpl", UNDEFINED)) or not all(map(_is_node, nodes)):
        return None
    return Saved(0 if kind == UNDEFINED else words[0], nodes, words[6])


def _is_node(address: int) -> bool:
    words = words_at(address, WRAPPER + 1)
    return bool(class_at(words[0])) or _is_of_python(address, words[WRAPPER])


def _is_counted(address: int) -> bool:
    """Whether a word of a node that has no SavedVariable points to a tensor or a node."""
    if address < 4096 or address % 8:
        return False
    kind = class_of(address)
    return bool(kind) and kind not in (UNDEFINED, "StorageImpl")
