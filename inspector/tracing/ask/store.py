"""A trace in a file: columns, each compressed separately, and the tables as JSON.

Form 2: a zip archive (NumPy's .npz) of `form`, `head` (JSON in UTF-8: names, types, sites, threads), and one
array of bytes for each field of the record: the column, compressed by `form`'s codec. Only the clock is
transformed first: the differences of the ends of records that are no continuation, then the words of the
continuations. Whole columns let the codec find repeated addresses far back, which differences would hide: 2.2
to 2.7 bytes a record, against 6 for zlib of differences. Form 1, still readable, has plain columns, four of
them as differences. Needs only NumPy, not the extension.
"""

# SPDX-License-Identifier: MIT
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from inspector.errors import InspectorError, unwritable
from inspector.facts.conversion import Counted, Loss, Materialized, Seen, Site
from inspector.facts.converted import NO_LINES, HostLines
from inspector.facts.hosted import HostSite
from inspector.facts.native import Place
from inspector.facts.statements import Bound, Named, Operator, Written
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.tracing.events.call_counts import NOT_SAVED
from inspector.tracing.events.decode import FLAGS, Events, Rows, record_type

_Told = TypeVar("_Told")
SCHEMA: Final = 2
_ZERO: Final = np.uint64(0)
FORM: Final = 2
LZMA, ZLIB = 1, 2
PRESET: Final = 1
"""Of lzma: 1 s for a million records; the next preset takes twice that and saves 4 %."""
_BESIDE: Final = {"thread": np.dtype(np.int32), "site": np.dtype(np.int32)}
"""Columns that are not fields of a record."""
_DIFFERENCES: Final = ("start", "obj", "val", "aux")
"""Fields that form 1 stores as differences to the previous record."""
try:  # a Python may be built without it
    import lzma

    _BROKEN: tuple[type[Exception], ...] = (lzma.LZMAError, zlib.error, EOFError)
    CODEC = LZMA
except ImportError:  # pragma: no cover
    _BROKEN, CODEC = (zlib.error, EOFError), ZLIB


def save(events: Events, path: str | Path) -> None:
    """Write the trace; `load` reads it back on any machine."""
    records = events.records
    columns = {name: records[name] for name in records.dtype.names or ()}
    columns |= {"start": _ends(records), "thread": events.thread, "site": events.site}
    packed: dict[str, Any] = {
        name: _packed(column.astype(_BESIDE.get(name, column.dtype)).tobytes())
        for name, column in columns.items()
    }
    head = _packed(json.dumps(head_of(events)).encode())
    try:
        with Path(path).open("wb") as file:
            np.savez(file, form=np.array([FORM, CODEC]), head=head, **packed)
    except OSError as error:
        raise unwritable(path, error) from None


def _packed(content: bytes) -> Rows:
    packed = lzma.compress(content, preset=PRESET) if CODEC == LZMA else zlib.compress(content)
    return np.frombuffer(packed, np.uint8)


def _unpacked(packed: Rows, codec: int) -> bytes:
    content = packed.tobytes()
    return zlib.decompress(content) if codec == ZLIB else lzma.decompress(content)


def _is_head(records: Rows) -> Rows:
    found: Rows = (records["flags"] & FLAGS["CONTINUATION"]) == 0
    return found


def _ends(records: Rows) -> Rows:
    """Encode the clock by ends, which are ordered like the records."""
    heads, start = _is_head(records), records["start"]
    return np.concatenate([np.diff(start[heads] + records["duration"][heads], prepend=_ZERO), start[~heads]])


def _starts(column: Rows, records: Rows) -> Rows:
    """Decode the clock; the records have their flags and durations already."""
    heads = _is_head(records)
    count = int(np.count_nonzero(heads))
    start = np.empty(len(records), np.uint64)
    start[heads] = np.cumsum(column[:count], dtype=np.uint64) - records["duration"][heads]
    start[~heads] = column[count:]
    return start


def head_of(events: Events) -> dict[str, Any]:
    """All of a trace except its records, as JSON values."""
    return {
        "schema": SCHEMA,
        "kind": "trace",
        "names": {str(number): name for number, name in events.names.items()},
        "modules": {str(number): name for number, name in events.modules.items()},
        "import_modules": {str(number): name for number, name in events.import_modules.items()},
        "types": list(events.types),
        "threads": [str(thread) for thread in events.threads],
        "sites": [to_wire(site) for site in events.sites],
        "seen": [to_wire(one) for one in events.seen],
        "counted": to_wire(events.counted),
        "askers": {str(number): name for number, name in events.askers.items()},
        "callers": {str(address): name for address, name in events.callers.items()},
        "givers": list(events.givers),
        "outdone": events.outdone,
        "materialized": [to_wire(one) for one in events.materialized],
        "hosts": {str(number): name for number, name in events.hosts.items()},
        "constants": {str(address): name for address, name in events.constants.items()},
        "hooked_imports": events.hooked_imports,
        "tick_ps": events.tick_ps,
        "dropped": events.dropped,
        "skipped": events.skipped,
        "stacks": {str(number): [to_wire(one) for one in frames] for number, frames in events.stacks.items()},
        "wall_ns": events.wall_ns,
        "grade": events.grade,
        "written": [to_wire(one) for one in events.written],
        "bound": [to_wire(one) for one in events.bound],
        "lost": [to_wire(one) for one in events.lost],
        "given": [to_wire(one) for one in events.given],
        "operators": [to_wire(one) for one in events.operators],
        "values_seen": events.values_seen,
        "host_sites": {str(number): to_wire(one) for number, one in events.host_sites.items()},
        "host_lines": to_wire(events.host_lines),
    }


def load(path: str | Path) -> Events:
    """The trace saved at `path`. Raises InspectorError `unreadable-trace`."""
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return _of_form_1(file) if "form" not in file.files else _of_form_2(file)
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        NameError,
        zipfile.BadZipFile,
    ) as error:
        raise _unreadable(path, error) from None
    except _BROKEN as error:
        raise _unreadable(path, error) from None


def _of_form_1(file: Any) -> Events:
    columns = {name: file[name] for name in file.files}
    for name in _DIFFERENCES:
        columns[name] = np.cumsum(columns[name], dtype=columns[name].dtype)
    return restored(json.loads(file["head"].tobytes()), columns)


def _of_form_2(file: Any) -> Events:
    form, codec = file["form"].tolist()
    if form != FORM:
        raise ValueError(f"its form is {form}")
    types = {name: record_type()[name] for name in record_type().names or ()} | _BESIDE
    columns = {name: np.frombuffer(_unpacked(file[name], codec), kind) for name, kind in types.items()}
    made = restored(json.loads(_unpacked(file["head"], codec)), columns)
    made.records["start"] = _starts(columns["start"], made.records)
    return made


def restored(head: dict[str, Any], columns: dict[str, Rows]) -> Events:
    """The trace of a head from `head_of` and a column for each field of the records.

    Raises ValueError, LookupError or TypeError if they are no trace.
    """
    if head.get("schema") != SCHEMA or head.get("kind") != "trace":
        raise ValueError(f"its schema is {head.get('schema')!r}, and this inspector reads {SCHEMA}")
    records = np.zeros(len(columns["kind"]), record_type())
    for name in records.dtype.names or ():
        records[name] = columns[name]
    return Events(
        records=records,
        thread=columns["thread"],
        threads=tuple(int(thread) for thread in head["threads"]),
        types=tuple(head["types"]),
        sites=tuple(from_wire(Site, site) for site in head["sites"]),
        site=columns["site"],
        names=_numbered(head["names"]),
        modules=_numbered(head["modules"]),
        import_modules=_numbered(head["import_modules"]),
        askers=_numbered(head.get("askers", {})),
        callers=_numbered(head.get("callers", {})),
        givers=tuple(head.get("givers", ())),
        outdone=bool(head.get("outdone")),
        hosts=_numbered(head.get("hosts", {})),
        skipped=head.get("skipped", 0),
        stacks={
            int(number): tuple(from_wire(Place, one) for one in frames)
            for number, frames in head.get("stacks", {}).items()
        },
        constants=_numbered(head.get("constants", {})),
        seen=tuple(from_wire(Seen, one) for one in head["seen"]),
        counted=from_wire(tuple[Counted, ...] | Unknown, head.get("counted", to_wire(NOT_SAVED))),
        materialized=tuple(from_wire(Materialized, one) for one in head.get("materialized", ())),
        written=tuple(from_wire(Written, one) for one in head.get("written", ())),
        bound=tuple(from_wire(Bound, one) for one in head.get("bound", ())),
        lost=tuple(from_wire(Loss, one) for one in head.get("lost", ())),
        given=tuple(from_wire(Named, one) for one in head.get("given", ())),
        operators=tuple(from_wire(Operator, one) for one in head.get("operators", ())),
        values_seen=bool(head.get("values_seen")),
        host_sites={
            int(number): from_wire(HostSite | Unknown, one)
            for number, one in head.get("host_sites", {}).items()
        },
        host_lines=from_wire(HostLines, head.get("host_lines", to_wire(NO_LINES))),
        **{name: head[name] for name in ("hooked_imports", "tick_ps", "dropped", "wall_ns", "grade")},
    )


def _numbered(table: dict[str, _Told]) -> dict[int, _Told]:
    return {int(number): name for number, name in table.items()}


def _unreadable(path: str | Path, error: Exception) -> InspectorError:
    return InspectorError(
        f"{path} is not a saved trace.",
        slug="unreadable-trace",
        why=str(error)[:120],
        do="write it again with trace.save(path)",
    )
