"""A trace in a file: columns with small differences, compressed; the tables beside them as JSON.

Form, schema 1: a zip archive (NumPy's .npz) of one array a field of the record, and `head`, JSON in UTF-8:
names, types, sites, threads. Addresses and clocks are kept as differences to the record before, which is
what makes them small. Needs NumPy only, not the extension's own build.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from inspector.errors import InspectorError
from inspector.facts.conversion import Materialized, Seen, Site
from inspector.facts.wire import from_wire, to_wire
from inspector.tracing.decode import Events, Rows, record_type

SCHEMA: Final = 1
_DIFFERENCES: Final = ("start", "obj", "val", "aux")
"""Fields whose differences are smaller than they are."""


def save(events: Events, path: str | Path) -> None:
    """Write the trace; `load` reads it back on any machine."""
    records = events.records
    columns: dict[str, Any] = {n: _packed(records[n], n) for n in records.dtype.names or ()}
    head = np.frombuffer(json.dumps(head_of(events)).encode(), np.uint8)
    try:
        with Path(path).open("wb") as file:
            np.savez_compressed(file, head=head, thread=events.thread, site=events.site, **columns)
    except OSError as error:
        raise InspectorError(
            f"cannot write {path}: {error.strerror}.", slug="unwritable-file", do="give another path"
        ) from None


def _packed(column: Rows, name: str) -> Rows:
    return np.diff(column, prepend=column.dtype.type(0)) if name in _DIFFERENCES else column


def head_of(events: Events) -> dict[str, Any]:
    """All of a trace but its records, as JSON values."""
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
        "askers": {str(number): name for number, name in events.askers.items()},
        "callers": {str(address): name for address, name in events.callers.items()},
        "givers": list(events.givers),
        "materialized": [to_wire(one) for one in events.materialized],
        "hosts": {str(number): name for number, name in events.hosts.items()},
        "hooked_imports": events.hooked_imports,
        "tick_ps": events.tick_ps,
        "dropped": events.dropped,
        "wall_ns": events.wall_ns,
        "grade": events.grade,
    }


def load(path: str | Path) -> Events:
    """The trace saved at `path`. Raises InspectorError `unreadable-trace`."""
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            head = json.loads(file["head"].tobytes())
            columns = {name: file[name] for name in file.files}
            for name in _DIFFERENCES:
                columns[name] = np.cumsum(columns[name], dtype=columns[name].dtype)
            return restored(head, columns)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from None


def restored(head: dict[str, Any], columns: dict[str, Rows]) -> Events:
    """The trace of which `head_of` told the head; a column for each field of the records.

    Raises ValueError, LookupError or TypeError where it is none.
    """
    if head.get("schema") != SCHEMA or head.get("kind") != "trace":
        raise ValueError(f"its schema is {head.get('schema')!r}")
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
        hosts=_numbered(head.get("hosts", {})),
        seen=tuple(from_wire(Seen, one) for one in head["seen"]),
        materialized=tuple(from_wire(Materialized, one) for one in head.get("materialized", ())),
        **{name: head[name] for name in ("hooked_imports", "tick_ps", "dropped", "wall_ns", "grade")},
    )


def _numbered(table: dict[str, str]) -> dict[int, str]:
    return {int(number): name for number, name in table.items()}


def _unreadable(path: str | Path, error: Exception) -> InspectorError:
    return InspectorError(
        f"{path} is not a saved trace.",
        slug="unreadable-trace",
        why=str(error)[:120],
        do="write it again with trace.save(path)",
    )
