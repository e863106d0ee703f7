"""Facts of a lazy vector, read from its fields: computes, materializes and keeps nothing."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np

from inspector._native import LazyVector, Subject
from inspector.facts.lazy import INPUT_CHANGED, INPUT_UNCHANGED, Lazy, LazyEvent, LazyNode, Role, State
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown
from inspector.lazy import callers, refusals

PREVIEW = 5
"""Most existing elements shown."""
NODES = 64
"""Most objects of the stack shown."""
COMPARED_BLOCKS = 256
"""Touched blocks compared for "input changed since": at most 32 MB are read, about 2 ms."""


def lazy(subject: Subject) -> Lazy:
    """The facts of the lazy vector in `subject`."""
    references = _count(subject.refcount(), 0)
    vector = subject.get()
    if not isinstance(vector, LazyVector):
        raise refusals.not_lazy(vector)
    state = state_of(vector)
    values: dict[State, Any] = {
        "partially materialized": "partial",
        "owned": "computed",
        "pending": "pending",
    }
    storage = vector.data2
    told = Lazy(
        stack=_stack(vector, references),
        state=state,
        value=values.get(state, "lazy"),
        storage="heap" if storage else "none",
        title="cow" if storage and storage[1] > 1 else "owned",
        logical_bytes=vector.nbytes,
        owned_bytes=storage[3] if storage else 0,
        input=_input(vector),
        written=bool(vector.written),
        exports=vector.exports,
        events=tuple(_event(*event) for event in vector.events),
        events_dropped=vector.events_dropped,
    )
    return told


def state_of(vector: LazyVector) -> State:
    """The headline state."""
    if vector.state == "filling":
        return "pending"
    if vector.state == "materialized":
        return "owned"
    return "partially materialized" if vector.blocks[0] else "lazy"


def short(vector: LazyVector) -> str:
    """One line, for repr: no element is computed."""
    state = state_of(vector)
    done, blocks = vector.blocks
    words = {
        "owned": "materialized ",
        "partially materialized": f"{done}/{blocks} blocks ",
        "pending": "filling ",
    }
    kind = np.dtype(vector.format).name
    shown = f"{words.get(state, '')}lazy({vector.recipe})"
    return f"<{type(vector).__name__} {shown} {kind}, length {vector.length}>"


def _count(references: int | None, own: int = 0) -> int | ImmortalType:
    return Immortal if references is None else references - own


def _input(vector: LazyVector) -> str | Unknown:
    changed, compared, touched = vector.input_changed(COMPARED_BLOCKS)
    if changed:
        return INPUT_CHANGED
    if not touched:
        return Unknown("nothing was read from the input yet")
    if compared < touched:
        return Unknown(f"{compared} of {touched} touched blocks compared")
    return INPUT_UNCHANGED


def _stack(vector: LazyVector, references: int | ImmortalType) -> tuple[LazyNode, ...]:
    """The vector and what lies below it; NODES at most, for vectors may share inputs many times over."""
    nodes: list[LazyNode] = []
    waiting: list[tuple[Role, Any, int | ImmortalType, int]] = [("vector", vector, references, 0)]
    while waiting and len(nodes) < NODES:
        role, value, count, depth = waiting.pop()
        if role == "data2":
            nodes.append(_result_node(value, depth))
        elif isinstance(value, LazyVector):
            nodes.append(_vector_node(role, value, count, depth))
            waiting += reversed(_below(value, depth + 1))
        else:
            nodes.append(_input_node(value, count, depth))
    return tuple(nodes)


def _below(vector: LazyVector, depth: int) -> list[tuple[Role, Any, int | ImmortalType, int]]:
    counts = vector.input_references  # before a look holds references of its own
    inputs = vector.data1 if type(vector.data1) is tuple else (vector.data1,)
    found: list[tuple[Role, Any, int | ImmortalType, int]] = [
        ("data1", value, _count(count), depth) for value, count in zip(inputs, counts, strict=False)
    ]
    return [*found, ("data2", vector, 0, depth)] if vector.data2 and vector.blocks[0] else found


def _vector_node(role: Role, vector: LazyVector, references: int | ImmortalType, depth: int) -> LazyNode:
    done, blocks = vector.blocks
    return LazyNode(
        role=role,
        address=Address(id(vector)),
        type_name=type(vector).__name__,
        references=references,
        dtype=np.dtype(vector.format).name,
        length=vector.length,
        recipe=vector.recipe,
        state=state_of(vector),
        blocks_done=done,
        blocks=blocks,
        preview=(),
        depth=depth,
    )


def _input_node(value: Any, references: int | ImmortalType, depth: int) -> LazyNode:
    plain = type(value) is np.ndarray and value.ndim == 1
    return LazyNode(
        role="data1",
        address=Address(id(value)),
        type_name=type(value).__name__,
        references=references,
        dtype=value.dtype.name if plain else "",
        length=len(value) if plain else Unknown("not asked"),
        recipe="",
        state="view",
        blocks_done=0,
        blocks=0,
        preview=tuple(_shown(x) for x in value[:PREVIEW].tolist()) if plain else (),
        depth=depth,
    )


def _result_node(vector: LazyVector, depth: int) -> LazyNode:
    address, references, _, _ = vector.data2 or (0, 0, 0, 0)
    return LazyNode(
        role="data2",
        address=Address(address),
        type_name="storage",
        references=references,
        dtype=np.dtype(vector.format).name,
        length=vector.length,
        recipe="",
        state="owned",
        blocks_done=0,
        blocks=0,
        preview=_there(vector),
        depth=depth,
    )


def _there(vector: LazyVector) -> tuple[str, ...]:
    """First elements, where all are materialized: then reading them runs no recipe."""
    if vector.state != "materialized":
        return ()
    return tuple(_shown(LazyVector.elt(vector, i)) for i in range(min(PREVIEW, vector.length)))


def _shown(value: float) -> str:
    return f"{value:.6g}" if type(value) is float else str(value)


def _event(
    kind: str, cause: str | None, code: Any, instruction: int, line: int, cell: int, size: int, ns: int
) -> LazyEvent:
    function, file, called = callers.of(code, instruction)
    if isinstance(file, str) and ("ipykernel_" in file or file.startswith("<ipython-input")):
        file = "a notebook cell"  # IPython's name for it is a file that does not exist
    return LazyEvent(
        kind=kind,
        by=cause if cause is not None else called,
        function=function,
        file=file,
        line=line if code is not None else Unknown("no Python frame"),
        cell=cell if cell >= 0 else Unknown("not in a notebook"),
        bytes=size,
        ns=ns,
    )
