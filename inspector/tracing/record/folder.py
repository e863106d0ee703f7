"""Read a trace that was written into a folder while it ran: rings, journal and tables of each process.

    ring-PID-N.events   the records of a thread (native/trace/record/ring.h)
    names-PID.journal   the meaning of interned numbers (native/trace/record/journal.c)
    tables-PID.jsonl    what is hooked, one object a line: each adds to those before it

Everything is written as soon as it is known, so that a killed process leaves a complete trace.
"""

# SPDX-License-Identifier: MIT
import json
import struct
from collections import ChainMap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any, Final

import numpy as np

from inspector import _native
from inspector.facts.conversion import Counted, Seen
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.tracing.arm.allocation_slots import caller_among
from inspector.tracing.events.assembling import assembled
from inspector.tracing.events.call_counts import NOT_REPORTED
from inspector.tracing.events.decode import FLAGS, RECORD_BYTES, Events, record_type
from inspector.tracing.events.name_tables import Tables
from inspector.tracing.record.allocations import callers
from inspector.tracing.record.host_sites import host_sites

HEADER_BYTES: Final = 4096
_STREAM: Final = 2
"""Of RING_MODES: `tail` is what the reader has taken."""
_TEXTS: Final = {1: "latin-1", 2: "utf-16", 4: "utf-32"}


def read(folder: Path, pid: int, grade: str) -> Events:
    """The events of process `pid`, until its trace or the process ended."""
    heads = [_head(path.read_bytes()) for path in sorted(folder.glob(f"ring-{pid}-*.events"))]
    lines = list(_lines(folder / f"tables-{pid}.jsonl"))
    tick_ps = next((head["tick_ps"] for head, _ in heads), 1)
    made = assembled(
        [_ring(head, content) for head, content in heads],
        refused=0,
        interned=_interned(folder / f"names-{pid}.journal"),
        tables=_tables(lines),
        cells={},
        tick_ps=tick_ps,
        wall_ns=next((line["wall_ns"] for line in lines if "wall_ns" in line), 0) or _last_ns(heads),
        grade=grade,
    )
    stacks = dict(_entries((folder / f"names-{pid}.journal").read_bytes(), b"s")) if made.hosts else {}
    sites = host_sites(stacks, _joined(lines, "code"))
    return replace(
        made, callers=callers(made.records, caller_among(_joined(lines, "images"))), host_sites=sites
    )


def forked(folder: Path, pid: int) -> int:
    """Number of other processes that recorded; children forked by `pid` have no tables of their own."""
    numbers = {path.name.split("-")[1] for path in folder.glob("ring-*.events")}
    return len(numbers - {str(pid)})


def recorded(folder: Path) -> int:
    """Records that all processes have written there so far."""
    return sum(_head(_beginning(path))[0]["head"] for path in folder.glob("ring-*.events"))


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEADER_BYTES).ljust(HEADER_BYTES, b"\0")


def _head(content: bytes) -> tuple[dict[str, int], bytes]:
    rows = _native.RING_HEADER
    head = {name: struct.unpack_from("<" + code, content, at)[0] for name, code, at, _ in rows}
    whole = head["magic"] == _native.RING_MAGIC
    return (head if whole else {**head, "head": 0, "capacity": 0}), content


def _ring(head: dict[str, int], content: bytes) -> tuple[Any, ...]:
    """A row as `_native.ring_end` gives it: the last records, oldest first."""
    written, capacity = head["head"], head["capacity"]
    first = max(written - capacity, 0 if head["mode"] == _STREAM else head["tail"])
    records = content[HEADER_BYTES : HEADER_BYTES + capacity * RECORD_BYTES]
    begin, end = (one % capacity * RECORD_BYTES if capacity else 0 for one in (first, written))
    whole = (
        records[begin:end] if begin <= end and written - first < capacity else records[begin:] + records[:end]
    )
    return head["pthread"], head["tid"], written, head["dropped"] + first, head["skipped"], 1, whole


def _last_ns(heads: list[tuple[dict[str, int], bytes]]) -> int:
    """Nanoseconds from the beginning to the last record with a clock; 0 without one."""
    last = 0
    for head, content in heads:
        kept = min(head["head"], head["capacity"])
        records = np.frombuffer(content, record_type(), kept, HEADER_BYTES)
        starts = records["start"][records["flags"] & FLAGS["CONTINUATION"] == 0]
        last = max(last, (int(starts.max(initial=0)) - head["start_ticks"]) * head["tick_ps"] // 1000)
    return last


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file whose last line may be incomplete."""
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            return


def _joined(lines: list[dict[str, Any]], name: str) -> dict[int, Any]:
    """The numbers that each line adds to those before it."""
    found: ChainMap[str, Any] = ChainMap(*(line[name] for line in reversed(lines) if name in line))
    return {int(number): told for number, told in found.items()}


def _tables(lines: list[dict[str, Any]]) -> Tables:
    nothing: dict[str, Any] = {"seen": [], "hooked_imports": 0, "givers": ()}
    last = next((line for line in reversed(lines) if "seen" in line), nothing)
    return Tables(
        names=_joined(lines, "names"),
        modules=_joined(lines, "modules"),
        import_modules=_joined(lines, "import_modules"),
        hosts=_joined(lines, "hosts"),
        constants=_joined(lines, "constants"),
        hooked_imports=last["hooked_imports"],
        seen=tuple(from_wire(Seen, one) for one in last["seen"]),
        counted=_counted(lines),
        askers=_joined(lines, "askers"),
        givers=tuple(last["givers"]),
    )


def _counted(lines: list[dict[str, Any]]) -> tuple[Counted, ...] | Unknown:
    """Written when the trace ends; Unknown for a killed program."""
    told = next((line["counted"] for line in lines if "counted" in line), to_wire(NOT_REPORTED))
    found: tuple[Counted, ...] | Unknown = from_wire(tuple[Counted, ...] | Unknown, told)
    return found


def _interned(path: Path) -> list[str | CodeType]:
    """The interned objects by number; "" where the journal was full."""
    found = dict(_entries(path.read_bytes(), b"tc")) if path.exists() else {}
    return [found.get(number, "") for number in range(max(found, default=0) + 1)]


def _entries(content: bytes, kinds: bytes) -> Iterator[tuple[int, Any]]:
    """The entries of these kinds in a journal (format: native/trace/record/journal.c)."""
    at, end = 16, 16 + struct.unpack_from("=Q", content)[0]
    while at < end:
        number, kind = struct.unpack_from("=Ic", content, at)
        at += 5
        told, at = _READ[kind](content, at)
        if kind in kinds:
            yield number, told


def _text(content: bytes, at: int) -> tuple[str, int]:
    width, count = struct.unpack_from("=BI", content, at)
    stop = at + 5 + width * count
    encoding = _TEXTS[width] + ("-le" if width > 1 else "")
    return content[at + 5 : stop].decode(encoding, "replace"), stop


def _code(content: bytes, at: int) -> tuple[CodeType, int]:
    """A code object with the same lines, never executed, and the offset after it."""
    (first,) = struct.unpack_from("=i", content, at)
    file, at = _text(content, at + 4)
    name, at = _text(content, at)
    table, at = _text(content, at)
    made = _NOTHING.__code__.replace(
        co_filename=file, co_qualname=name, co_firstlineno=first, co_linetable=table.encode("latin-1")
    )
    return made, at


def _NOTHING() -> None:
    """Its code object is the template of `_code`."""


def _frames(content: bytes, at: int) -> tuple[tuple[int, ...], int]:
    """The return addresses of a native stack, innermost first, and the offset after them."""
    (count,) = struct.unpack_from("=I", content, at)
    return struct.unpack_from(f"={count}Q", content, at + 4), at + 4 + 8 * count


_READ: Final[dict[bytes, Callable[[bytes, int], tuple[Any, int]]]] = {b"t": _text, b"c": _code, b"s": _frames}
