"""LOSS records as evidence: the elements that a call changed, and the first one before and after."""

# SPDX-License-Identifier: MIT
import struct
from collections import Counter
from typing import Any, Final

import numpy as np

from inspector import _native
from inspector.facts.conversion import Loss, LossEvidence
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown
from inspector.tracing.ask import call_values
from inspector.tracing.ask.narrowed_arguments import narrowed
from inspector.tracing.ask.nesting import TOP, Nesting
from inspector.tracing.events import capi_rows
from inspector.tracing.events.decode import FLAGS, KINDS, Events

_WORDS: Final = {"embedded_nul": "embedded NUL"}
_KEPT: Final = _native.LOSS_RULES.index("kept")
_SHOWN: Final = 8
"""Characters of a text in a record."""


def losses(events: Events, nesting: Nesting) -> tuple[LossEvidence, ...]:
    """One for each loss of equal calls, by first occurrence; not again for a call that passes it on.

    A number changed by a C-API call does not count if the surrounding call kept it by another read.
    """
    rows = events.of_kind("LOSS")
    heads = np.searchsorted(nesting.heads, rows, side="right") - 1
    is_kept = events.records["func"][rows] == _KEPT
    keeping = set(heads[is_kept].tolist())
    rows, heads = rows[~is_kept], heads[~is_kept]
    keys = [_key(events.records[row]) for row in rows.tolist()]
    inner = {(int(nesting.owner[head]), key) for head, key in zip(heads.tolist(), keys, strict=True)}
    telling = keeping | {int(head) for head in heads if nesting.is_call[head]}
    found: dict[Any, LossEvidence] = {}
    times: Counter[Any] = Counter()
    each = events.times()[nesting.heads]
    for row, head, key in zip(rows.tolist(), heads.tolist(), keys, strict=True):
        owner = int(nesting.owner[head]) if head != TOP else TOP
        is_call = head != TOP and bool(nesting.is_call[head])
        if head != TOP and (head, key) not in inner and (is_call or owner not in telling):
            group = (*_alike(events, nesting, head), key)
            times[group] += int(each[head])
            if group not in found:
                asked = _asked(events, nesting, head, inner, key)
                others = _others(events, rows[heads == head].tolist(), row)
                found[group] = _evidence(events, nesting, row, head, asked, others)
    told = tuple(_counted(one, times[group]) for group, one in found.items())
    return (*told, *narrowed(events, nesting))


def _others(events: Events, of_call: list[int], row: int) -> int:
    """Elements of the same argument that the same call changed by other rules, but for rounding."""
    argument = events.records[row]["slot"]
    records = [one for one in map(events.records.__getitem__, of_call) if one["slot"] == argument]
    records = [one for one in records if one["func"] != events.records[row]["func"]]
    return sum(int(one["aux"]) for one in records if _native.LOSS_RULES[int(one["func"])] != "precision")


def _asked(
    events: Events, nesting: Nesting, head: int, handed: set[tuple[int, Any]], key: tuple[int, ...]
) -> tuple[str, ...]:
    """First text arguments of a call and of the calls that pass its result on."""
    found = {_first_text(events, nesting, head)}
    while (head := int(nesting.owner[head])) != TOP and (head, key) in handed:
        found.add(_first_text(events, nesting, head))
    return tuple(sorted(found - {""}))


def _first_text(events: Events, nesting: Nesting, head: int) -> str:
    call, stop = int(nesting.heads[head]), int(nesting.stops[head])
    if not nesting.is_call[head]:
        return ""
    arguments, _result = call_values.read(events, call, stop)
    return arguments[0].text.strip("'") if arguments and arguments[0].type_name == "str" else ""


def _alike(events: Events, nesting: Nesting, head: int) -> tuple[int, int, int]:
    """Key of equal calls; C-API functions by line and enclosing group."""
    owner = int(nesting.owner[head])
    record = events.records[nesting.heads[head]]
    if nesting.is_call[head]:
        return int(nesting.group[head]), 0, 0
    group = int(nesting.group[owner]) if owner != TOP else TOP
    return group, int(record["func"]) + 1, int(events.site[nesting.heads[head]])


def _counted(one: LossEvidence, times: int) -> LossEvidence:
    from dataclasses import replace

    return replace(one, loss=replace(one.loss, times=times))


def _key(record: Any) -> tuple[int, ...]:
    return tuple(int(record[name]) for name in ("func", "obj", "val", "aux", "start", "type"))


def _evidence(
    events: Events, nesting: Nesting, row: int, at: int, asked: tuple[str, ...], others: int
) -> LossEvidence:
    call, owner = int(nesting.heads[at]), int(nesting.owner[at])
    record, head = events.records[row], events.records[call]
    is_capi = bool(head["kind"] == KINDS["CAPI"])
    inside = events.site[call] == 0 and owner != TOP
    rule = _native.LOSS_RULES[int(record["func"])]
    compared, elements = int(record["duration"]), int(record["type"])
    loss = Loss(
        rule=_WORDS.get(rule, rule),  # type: ignore[arg-type]
        function=capi_rows.name(int(head["func"]))
        if is_capi
        else events.names.get(int(head["slot"]), f"place {int(head['slot'])}"),
        before=_text(int(record["lasti"]), int(record["obj"])),
        after=_text(int(record["refs"]), int(record["val"])),
        first=int(record["start"]),
        lost=int(record["aux"]),
        compared=compared,
        elements=elements,
        times=1,
        confidence="certain" if compared == elements else "by sample",
        site=events.sites[events.site[int(nesting.heads[owner]) if inside else call]],
        largest_error=capi_rows.as_single(int(record["code"])),
        others=others,
    )
    fills = bool(record["flags"] & FLAGS["FILL"])
    places = () if is_capi else _places(events, nesting, at)
    return LossEvidence(loss, bool(record["val"]) and not fills, is_capi, asked, places)


def _places(events: Events, nesting: Nesting, at: int) -> tuple[Range, ...]:
    """Where the arguments and the result of a call have their bytes."""
    arguments, result = call_values.read(events, int(nesting.heads[at]), int(nesting.stops[at]))
    known = (*arguments, *(() if isinstance(result, Unknown) else (result,)))
    spans = [span for one in known for span in one.spans]
    return tuple(Range(span.address, Address(span.address + span.span_bytes)) for span in spans)


def _text(kind: int, bits: int) -> str:
    """An element as Python writes it."""
    letter, length = chr(kind & 0xFF), kind >> 8
    if letter == "f":
        return repr(capi_rows.as_double(bits))
    if letter == "c":
        real, imaginary = struct.unpack("<ff", bits.to_bytes(8, "little"))
        return f"({real:.7g}{imaginary:+.7g}j)"
    if letter in "Mm":
        return _time(letter, _native.SPAN_UNITS[(length & 127) - 1], capi_rows.as_signed(bits))
    if letter == "I":
        return f"an int of {bits} bits"
    if letter == "b":
        return str(bool(bits))
    if letter == "n":
        return "None"
    if letter == "t":
        shown = bits.to_bytes(_SHOWN, "little")[: min(length, _SHOWN)].decode("ascii", "replace")
        return f"{shown!r}{'…' if length > _SHOWN else ''}"
    return str(capi_rows.as_signed(bits) if letter == "i" else bits)


def _time(letter: str, unit: str, count: int) -> str:
    """A date "2024-01-01T00:00:00", or a duration "1500 ms"."""
    return str(np.array(count, f"M8[{unit}]")) if letter == "M" else f"{count} {unit}"
