"""The column `materialization`: an object's layers, its pages, its dangers."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Elements, type_module, type_name
from inspector.adapters.registry import adapter_of, problems
from inspector.adapters.told import DERIVED, of_type
from inspector.facts.materialization import (
    NO_BYTES,
    NOT_RECORDED,
    Evidence,
    KeptPart,
    Layer,
    Materialization,
    Residency,
)
from inspector.facts.unknown import Unknown
from inspector.objects.classes import HAVE_GC, type_flags
from inspector.objects.layers.dangers import dangers
from inspector.objects.layers.headline import headline
from inspector.objects.layers.pages import residency
from inspector.objects.layers.plain import plain
from inspector.objects.layers.stack import Stack, retained_bytes, stack
from inspector.objects.reach.whole import whole

STRIP_CELLS = 48
LEAST_MORE_BYTES: Final = 65_536
"""Structs, dicts and a few objects beside the bytes are not counted."""
_Parts = tuple[KeptPart, ...]
_KINDS: Final = ("private", "zero_page", "file", "shared", "swapped", "absent")


def materialization(subject: _native.Subject, kept: int | Unknown | None = None) -> Materialization:
    """How far the object's data exists, from its fields, mappings and the kernel's page tables.

    Computes nothing, pages nothing in, runs no user code. `kept`: bytes that it keeps, if they are known.
    """
    x = subject.get()
    adapter = adapter_of(type(x))
    told = adapter or (None if _broken(type(x)) else plain(type(x)))
    return _opaque(x) if told is None else _of_stack(subject, stack(x, told), kept)


def _of_stack(subject: _native.Subject, of: Stack, kept: int | Unknown | None) -> Materialization:
    pages = residency(of.spans, STRIP_CELLS, of.places)
    own, mostly = of.told.retained_bytes if kept is None else kept, _Parts()
    if kept is None and own is DERIVED:
        own = retained_bytes(subject.get(), of)
        kept, mostly = _whole(subject, of.blocks, own) if of.blocks else (own, ())
    layers = tuple(_resident(layer, of, pages) for layer in of.layers)
    amounts = _amounts(of, pages)
    return Materialization(
        state=headline(of, pages),
        layers=(*layers, *_pages_layer(of, pages)),
        layers_left_out=of.left_out,
        logical_bytes=_logical(of),
        retained_bytes=own if kept is None else kept,
        **amounts,
        waits_for=of.told.waits_for,
        materialized_by=of.told.materialized_by,
        findings=tuple(dangers(of, own)),
        in_words=of.told.in_words,
        mostly=mostly,
    )


def _whole(
    subject: _native.Subject, blocks: tuple[Elements, ...], own: int
) -> tuple[int, tuple[KeptPart, ...]]:
    """`own`, or bytes of all that it reaches and what most of them are: an index, a hash table, objects.

    Numbers without a tp_traverse keep what their holders have.
    """
    if all(block.numeric for block in blocks) and not type_flags(type(subject.get())) & HAVE_GC:
        return own, ()
    found, is_all, mostly = whole(subject)
    return (found, (mostly,)) if is_all and found >= own + LEAST_MORE_BYTES else (own, ())


def _resident(layer: Layer, of: Stack, pages: Residency | Unknown) -> Layer:
    """The layer with its pages; an object's only buffer has the object's pages."""
    if not layer.spans:
        return layer
    own = pages if layer.spans == of.spans else residency(layer.spans, 0, of.places)
    return replace(layer, residency=own)


def _pages_layer(of: Stack, pages: Residency | Unknown) -> tuple[Layer, ...]:
    if not of.spans:
        return ()
    last = [layer for layer in of.layers if layer.spans][-1]
    if isinstance(pages, Unknown):
        return (Layer("pages", "unknown", last.value, last.storage, last.title, depth=2, residency=pages),)
    count = -(-pages.span_bytes // pages.page_bytes)
    there = -(-pages.resident_bytes // pages.page_bytes)
    says = f"{there:,} of {count:,} in memory"
    evidence = (Evidence("system call", pages.way, says),)
    return (Layer("pages", says, last.value, last.storage, last.title, evidence, depth=2, residency=pages),)


def _logical(of: Stack) -> int | Unknown:
    if of.told.logical_bytes is not DERIVED:
        return of.told.logical_bytes
    if of.blocks:
        return sum(block.size * block.itemsize_bytes for block in of.blocks)
    return sum(span.bytes for span in of.spans) if of.spans else NO_BYTES


def _amounts(of: Stack, pages: Residency | Unknown) -> dict[str, Any]:
    """The six amounts and their sums; all 0 for an object whose elements do not exist or are elsewhere."""
    if isinstance(pages, Residency):
        span_bytes, resident_bytes = pages.span_bytes, pages.resident_bytes
        return _named(
            pages, span_bytes, resident_bytes, resident_bytes / span_bytes if span_bytes else NO_BYTES
        )
    known = pages is NO_BYTES
    value: int | Unknown = 0 if known else pages
    return _named(None, value, value, NO_BYTES if known else pages)


def _named(
    pages: Residency | None, span: int | Unknown, resident: int | Unknown, fraction: float | Unknown
) -> dict[str, Any]:
    kinds = {f"{kind}_bytes": span for kind in _KINDS}
    if pages:
        kinds = {name: getattr(pages, name) for name in kinds}
    return {**kinds, "span_bytes": span, "resident_bytes": resident, "resident_fraction": fraction}


def _broken(kind: type) -> str:
    """Why the adapter of the type's library is not used; "" if it is."""
    library = type_module(kind).partition(".")[0]
    found = (problem.reason for problem in problems() if problem.library == library)
    return next((f"the adapter of {library} is left out: {reason}" for reason in found), "")


def _opaque(x: Any) -> Materialization:
    kind = type(x)
    why = Unknown(f"opaque: {_broken(kind) or f'no adapter knows {type_name(kind)}'}")
    layer = Layer("wrapper", type_name(kind), why, why, why, (of_type(type_name(kind)),))
    return Materialization(
        state=why,
        layers=(layer,),
        layers_left_out=0,
        logical_bytes=why,
        retained_bytes=why,
        **_named(None, why, why, why),
        waits_for="",
        materialized_by=NOT_RECORDED,
        findings=(),
    )
