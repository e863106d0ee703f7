"""The place and owner of an object's bytes, and the protocols that export them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, blocks_of, type_attribute, type_name
from inspector.adapters.registry import adapter_of
from inspector.adapters.told import DERIVED
from inspector.facts.unknown import Address, Unknown
from inspector.objects.classes import full_name
from inspector.objects.ownership.naming import Context
from inspector.objects.ownership.quick import named_rows, showing, typed_name, views_of, whole_view

if TYPE_CHECKING:  # imported only for an object that exports bytes
    from inspector.facts.buffer import Buffer, Exposure, Holder, Spoken
    from inspector.facts.memory import Range

PROTOCOLS = {
    "__array_interface__": "__array_interface__",
    "__array_struct__": "__array_struct__",
    "__cuda_array_interface__": "__cuda_array_interface__",
    "__dlpack__": "DLPack",
    "__arrow_c_array__": "Arrow C data",
    "__arrow_c_stream__": "Arrow C stream",
}
"""Attribute on the type -> name of the protocol."""

MOST_HOLDERS = 16
MOST_VIEWS = 8
MOST_NAMED = 4
"""Most holders for which a name is searched: each search takes about 50 microseconds."""
MOST_SPANS = 8
"""Most blocks of an object for which another object is searched that shows them all."""
NOT_ASKED = Unknown("not asked")


def buffer(
    subject: _native.Subject, ask: bool = False, names: Mapping[int, str] | None = None
) -> Buffer | None:
    """The column `buffer`; None if the object exports no bytes, so that the column does not apply.

    Runs no user code, unless `ask=True`, which calls each protocol and releases its result. `names`: id of a
    dict -> the user's name for it, by which the holders get the user's names.
    """
    kind = type(subject.get())
    adapter = adapter_of(kind)
    blocks = adapter.elements(subject.get()) if adapter is not None else ()
    spoken = _spoken(subject, kind, blocks, ask)
    if not spoken and (adapter is None or not (blocks or adapter.names(subject.get()))):
        return None
    return _compose(subject, adapter, blocks, spoken, Context(names or {}))


def _compose(
    subject: _native.Subject,
    adapter: Adapter | None,
    blocks: tuple[Elements, ...],
    spoken: tuple[Spoken, ...],
    context: Context,
) -> Buffer:
    from inspector.facts.buffer import Buffer, Exposure

    nobody = (
        Unknown(NOT_ASKED.reason)
        if adapter is None
        else Unknown("no address of its bytes is known: closed, released, empty, kept in C, or not made yet")
    )
    many = blocks_of(adapter, subject.get(), blocks) if adapter is not None else 0
    if many > 1:
        nobody = Unknown(f"{many:,} blocks, each in a place of its own")
    answers = [row.exposure for row in spoken if isinstance(row.exposure, Exposure)]
    one = answers[0] if answers and many < 2 else None
    sharers = adapter.sharers(subject.get()) if adapter is not None else NOT_ASKED
    owns = adapter.owns(subject.get()) if adapter else NOT_ASKED
    spans = [answer.range for answer in answers if answer.range.bytes] if len(answers) == max(many, 1) else []
    return Buffer(
        logical_bytes=_logical(subject, adapter, answers[: max(1, len(blocks))], many) if answers else nobody,
        range=one.range if one else nobody,
        mapping=one.mapping if one else nobody,
        owns=owns,
        holders=holders(subject, context, one.range if one else None),
        readonly=all(answer.readonly for answer in answers) if answers else nobody,
        exports=adapter.exports(subject.get()) if adapter else NOT_ASKED,
        spoken=spoken,
        facts=adapter.names(subject.get()) if adapter else (),
        sharers=sharers,
        shared_with=_sharer(subject, adapter, spans, context)
        if adapter is not None and _may_be_shared(owns, sharers, spans)
        else "",
    )


def _may_be_shared(owns: bool | Unknown, sharers: int | Unknown, spans: Sequence[Range]) -> bool:
    """Whether no holder tells with whom the bytes are shared, and another object may show them."""
    if not spans or len(spans) > MOST_SPANS:
        return False
    is_counted = type(sharers) is int and sharers > 0
    return is_counted or len(spans) > 1 or (isinstance(owns, Unknown) and owns != NOT_ASKED)


def _sharer(subject: _native.Subject, adapter: Adapter, spans: Sequence[Range], context: Context) -> str:
    """The user's name for another object of the library that shows the same bytes."""
    name, other = showing(spans, {subject.address}, context)
    return name if other is not None and adapter_of(type(other)) is adapter else ""


def _logical(
    subject: _native.Subject, adapter: Adapter | None, answers: Sequence[Exposure], many: int
) -> int | Unknown:
    """The sum of the blocks; the adapter's number if it reported only some of the blocks."""
    if adapter is not None and many > max(1, len(answers)):
        told = adapter.layers(subject.get()).logical_bytes
        if told is not DERIVED:
            return told
    return sum(prod(answer.shape) * answer.itemsize_bytes for answer in answers)


def _spoken(
    subject: _native.Subject, kind: type, blocks: tuple[Elements, ...], asking: bool
) -> tuple[Spoken, ...]:
    """Protocols found in the type's struct, its classes' namespaces and the object's own attributes, as
    NumPy and others do; called only when `asking`."""
    found = [(name, name) for name in ("buffer",) if _native.speaks_buffer(kind)]
    own = _native.own_attributes(subject.get(), tuple(PROTOCOLS))
    found += [row for row in PROTOCOLS.items() if row[0] in own or type_attribute(kind, row[0]) is not None]
    if not blocks and not found:
        return ()
    from inspector.facts.buffer import Spoken

    rows = [Spoken(block.protocol, exposure(block)) for block in blocks]
    for attribute, protocol in found:
        if protocol not in {row.protocol for row in rows}:
            rows.append(Spoken(protocol, _asked(subject, attribute) if asking else NOT_ASKED))
    return tuple(rows)


def _asked(subject: _native.Subject, attribute: str) -> Exposure | Unknown:
    from inspector.adapters.protocols import ask

    answer = ask(subject.get(), attribute)
    return answer if isinstance(answer, Unknown) else exposure(answer)


def exposure(block: Elements) -> Exposure:
    """A block as the fact of what a protocol exports."""
    from inspector.binaries.mappings import mapping
    from inspector.facts.buffer import Exposure

    return Exposure(
        protocol=block.protocol,
        address=Address(block.address),
        shape=block.shape,
        strides_bytes=block.strides_bytes,
        itemsize_bytes=block.itemsize_bytes,
        format=block.typestr,
        flags=block.flags,
        readonly=block.readonly,
        exporter=block.exporter,
        range=block.range,
        mapping=mapping(block.range),
    )


def holders(subject: _native.Subject, context: Context, shown: Range | None) -> tuple[Holder, ...]:
    """From the object's base to the owner of its bytes, nearest first; at most MOST_HOLDERS.

    They get the names that a user could type, if there are any. `shown`: the bytes that the object shows,
    None if they are several blocks.
    """
    seen = {subject.address}
    found: list[tuple[str, _native.Subject]] = []
    waiting = _held_by(subject, seen)
    while waiting and len(found) < MOST_HOLDERS:
        found.append(waiting.pop(0))
        waiting += _held_by(found[-1][1], seen)
    if adapter_of(type(subject.get())) is not None and len(found) <= MOST_NAMED:
        return tuple(_named(_holder(*one), one[1], seen, context, shown) for one in found)
    return tuple(_holder(*one) for one in found)


def _named(
    holder: Holder, subject: _native.Subject, seen: set[int], context: Context, shown: Range | None
) -> Holder:
    """The holder under the user's name for it; else with another object that shows its bytes."""
    if holder.name != holder.type_name:  # the adapter knows how it is called
        return holder
    found = named_rows(subject, context)
    holder = replace(holder, views=views_of(found, seen)[:MOST_VIEWS])
    if name := typed_name(found):
        return replace(holder, name=name)
    if isinstance(holder.range, Unknown) or not holder.range.bytes or (shown is not None and not shown.bytes):
        return holder
    name, other = showing((shown or holder.range,), seen, context)
    if not name:
        name, other = whole_view(found, holder.range, seen)
    if not name:
        return holder
    adapter = adapter_of(type(other))
    blocks = adapter.elements(other) if adapter is not None else ()
    strided = _strided(blocks[0]) if len(blocks) == 1 else {}
    readonly = {"readonly": holder.readonly}  # of the owner: a library may hide that it can be written
    return replace(holder, shown_by=name, shown_by_type=full_name(type(other)), **strided | readonly)


def _held_by(subject: _native.Subject, seen: set[int]) -> list[tuple[str, _native.Subject]]:
    """Each holder not seen yet, in its only Subject, so that its refcount is exact."""
    adapter = adapter_of(type(subject.get()))
    held: list[tuple[str, _native.Subject]] = []
    for relation, owner in adapter.holds(subject.get()) if adapter else ():
        if id(owner) not in seen:
            seen.add(id(owner))
            held.append((relation, _native.Subject(owner)))
    return held


def _holder(relation: str, subject: _native.Subject) -> Holder:
    from inspector.facts.buffer import Holder

    name = type_name(type(subject.get()))
    adapter = adapter_of(type(subject.get()))
    blocks: tuple[Elements, ...] = adapter.elements(subject.get()) if adapter else ()
    references = subject.refcount()
    stranger = Unknown(f"{name} lays no bytes open" if adapter else f"no adapter knows {name}")
    return Holder(
        name=(adapter.called(subject.get()) if adapter else "") or name,
        type_name=name,
        address=Address(subject.address),
        relation=relation,
        owns=adapter.owns(subject.get()) if adapter else stranger,
        bytes=sum(block.size * block.itemsize_bytes for block in blocks) if blocks else stranger,
        range=blocks[0].range if len(blocks) == 1 else stranger,
        references=Unknown("immortal: its count has no meaning") if references is None else references,
        **(_strided(blocks[0]) if len(blocks) == 1 else {}),
    )


def _strided(block: Elements) -> dict[str, Any]:
    """Where the elements of a holder lie."""
    return {
        "first": Address(block.address),
        "shape": block.shape,
        "strides_bytes": block.strides_bytes,
        "itemsize_bytes": block.itemsize_bytes,
        "readonly": block.readonly,
    }
