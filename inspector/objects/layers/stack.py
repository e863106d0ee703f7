"""The stack of layers: those that the adapter reports, and the buffers derived from it."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.registry import adapter_of
from inspector.adapters.told import Told, of_type
from inspector.binaries.mappings import plain_mapping
from inspector.facts.amounts import counted
from inspector.facts.materialization import Evidence, Layer, Storage, Title
from inspector.facts.memory import Mapping, Range
from inspector.facts.unknown import Unknown
from inspector.objects.classes import basic_size
from inspector.objects.layouts.overlap import merged

MOST_LAYERS = 16
MOST_SPANS = 4096
MOST_HOLDERS = 16
STORAGE: dict[str, Storage] = {
    "file": "file-mapped",
    "shared file": "file-mapped",
    "shared memory": "shared-memory",
}
"""Kind of mapping -> storage word; all others are "heap"."""


class Places:
    """The mappings of one object's ranges, each looked up once by `find`."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[Range], Mapping | Unknown] = plain_mapping) -> None:
        self._find = find
        self._found: dict[tuple[int, int], Mapping | Unknown] = {}

    def __call__(self, span: Range) -> Mapping | Unknown:
        """The mapping that holds the middle of `span` (mappings.mapping)."""
        key = (span.start, span.stop)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._find(span)
        return found


@dataclass(slots=True)
class Stack:
    """What is known of one object before its pages are read."""

    told: Told
    layers: list[Layer]
    blocks: tuple[Elements, ...]
    spans: tuple[Range, ...]
    """The ranges of all layers."""
    left_out: int
    holders: list[Any]
    """Objects that keep its bytes alive, nearest first; references owned by the stack."""
    places: Places


def stack(x: Any, adapter: Adapter, places: Places | None = None) -> Stack:
    """The layers of `x` as its adapter reports them, with a buffer layer if those have no bytes."""
    told = adapter.layers(x)
    blocks = adapter.elements(x)
    holders = list(held(x))
    places = places or Places()
    layers = [_placed(x, layer, places) for layer in told.layers[:MOST_LAYERS]]
    if not any(layer.spans for layer in layers):
        layers += _derived(x, adapter, blocks, holders, told, places)
    spans = spans_of(told.layers) or spans_of(layers)
    left_out = told.layers_left_out + max(len(told.layers) - MOST_LAYERS, 0)
    return Stack(told, layers, blocks, spans[:MOST_SPANS], left_out, holders, places)


def _placed(x: Any, layer: Layer, places: Places) -> Layer:
    """The layer with the mapping of its first range, if its adapter reported only "heap"."""
    if not layer.spans or layer.storage != "heap":
        return layer
    storage, place = storage_of(x, layer.spans[0], places)
    return layer if storage == "heap" else replace(layer, storage=storage, evidence=(*layer.evidence, *place))


def spans_of(layers: Sequence[Layer]) -> tuple[Range, ...]:
    """All ranges of the layers."""
    return tuple([span for layer in layers if layer.spans for span in layer.spans])


def held(x: Any) -> Iterator[Any]:
    """The objects that keep the bytes of `x` alive, nearest first, each once, at most MOST_HOLDERS."""
    seen, waiting = {id(x)}, [x]
    while waiting and len(seen) <= MOST_HOLDERS:
        step = waiting.pop(0)
        adapter = adapter_of(type(step))
        owners = adapter.holds(step) if adapter is not None else ()
        for _, owner in owners:
            if id(owner) not in seen:
                seen.add(id(owner))
                waiting.append(owner)
                yield owner


def _derived(
    x: Any, adapter: Adapter, blocks: tuple[Elements, ...], holders: list[Any], told: Told, places: Places
) -> Iterator[Layer]:
    """Wrapper and buffers of an object whose adapter reports only its byte ranges."""
    if not told.layers:
        yield Layer("wrapper", type_name(type(x)), evidence=(of_type(type_name(type(x))),))
    spans = _spans(x, adapter, blocks)
    if spans:
        title, evidence = title_of(x, adapter, holders)
        storage, place = storage_of(x, spans[0], places)
        what, seen = _described(blocks, spans), (*evidence, *place)
        yield Layer("buffer", what, "computed", storage, title, seen, spans=tuple(spans), depth=1)


def _spans(x: Any, adapter: Adapter, blocks: tuple[Elements, ...]) -> tuple[Range, ...]:
    """`adapter.spans(x)`; if that is only the ranges of its elements, from `blocks`."""
    if type(adapter).spans is not Adapter.spans:
        return adapter.spans(x)
    ranges = (block.range for block in blocks)
    return tuple(found for found in ranges if found.bytes)


def _described(blocks: tuple[Elements, ...], spans: tuple[Range, ...]) -> str:
    if len(blocks) == 1:
        return f"{blocks[0].format} {blocks[0].shape}"
    return counted(len(spans), "block")


def title_of(x: Any, adapter: Adapter, holders: list[Any]) -> tuple[Title | Unknown, tuple[Evidence, ...]]:
    """The title (who frees the bytes), from the adapter's owner and holders."""
    owns = adapter.owns(x)
    if isinstance(owns, Unknown):
        return owns, ()
    if owns:
        return "owned", (Evidence("field", "owns its bytes", "yes"),)
    if not holders:
        return "borrowed", (Evidence("field", "owner", "none is held"),)
    last = holders[-1]
    if all(_owns_nothing(holder) for holder in holders):
        return "borrowed", (Evidence("field", "held by", f"{type_name(type(last))}, which owns nothing"),)
    other = adapter_of(type(last))
    foreign = other is None or other.library != adapter.library
    return "foreign" if foreign else "view", (Evidence("field", "held by", type_name(type(last))),)


def _owns_nothing(holder: Any) -> bool:
    """Whether a holder is only a pointer: a view over a cast keeps nothing alive."""
    adapter = adapter_of(type(holder))
    return adapter is not None and adapter.owns(holder) is False


def storage_of(x: Any, span: Range, places: Places) -> tuple[Storage | Unknown, tuple[Evidence, ...]]:
    """The storage of a range: the object's own struct, or a mapping."""
    if id(x) <= span.start < id(x) + basic_size(type(x)):
        return "inline", (Evidence("address", f"{span.start:#x}", "in the object's own struct"),)
    found = places(span)
    if not isinstance(found, Mapping):
        return found, ()
    storage = STORAGE.get(found.kind, "heap")
    place = found.kind if isinstance(found.file, Unknown) else f"{found.permissions} {found.file}"
    return storage, (Evidence("address", f"{span.start:#x}", place),)


def retained_bytes(x: Any, of: Stack) -> int:
    """Bytes it keeps alive, including its bases', each counted once."""
    rows: list[tuple[int, int]] = [(span.start, span.stop) for span in of.spans]
    shown = adapter_of(type(x))
    rows += [(span.start, span.stop) for span in shown.roots(x)] if shown is not None else []
    for owner in of.holders:
        adapter = adapter_of(type(owner))
        rows += [(span.start, span.stop) for span in adapter.spans(owner)] if adapter is not None else []
    return sum(stop - start for start, stop in merged(rows))
