"""The records of a trace with the part of each, as an Arrow IPC stream of plain columns."""

# SPDX-License-Identifier: MIT
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from inspector.tracing.ask.arrow import named, pyarrow, written
from inspector.tracing.events.decode import Events
from inspector.tracing.events.table import columns
from inspector.tracing.events.time_window import Interval, began_ns, fell_in


def stream(events: Events, parts: Mapping[str, Sequence[Interval]], limit: int) -> tuple[bytes, int]:
    """(the last `limit` records, how many earlier ones were left out). Raises InspectorError `no-pyarrow`.

    Columns: part (its name; "" in no part), began (UTC), and those of `Traced.table()`. Compressed by
    Zstandard,
    https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
    """
    arrow = pyarrow()
    kept = slice(max(len(events) - limit, 0), None)
    table = {name: column[kept] for name, column in _columns(events, parts).items()}
    made = arrow.table(
        {name: named(arrow, column) if column.dtype == object else column for name, column in table.items()}
    )
    made = made.set_column(1, "began", made["began"].cast(arrow.timestamp("ns", "UTC")))
    sink = arrow.BufferOutputStream()
    options = arrow.ipc.IpcWriteOptions(compression="zstd")
    with arrow.ipc.new_stream(sink, made.schema, options=options) as writer:
        writer.write_table(made)
    return sink.getvalue().to_pybytes(), len(events) - len(made)


def _columns(events: Events, parts: Mapping[str, Sequence[Interval]]) -> Mapping[str, Any]:
    intervals = [(name, one) for name, some in parts.items() for one in some]
    names = np.array([*(name for name, _ in intervals), ""], object)
    table = columns(events)
    unix_ns = time.time_ns() - time.monotonic_ns()
    return {
        "part": names[fell_in(events, [one for _, one in intervals])],
        "began": began_ns(events).astype(np.int64) + unix_ns,
        **{name: table[name] if name != "kind" else table[name].astype(object) for name in table},
    }


def joined(streams: Iterable[tuple[str, bytes]], told: Callable[[str, str], Mapping[str, str]]) -> Any:
    """One pyarrow.Table of several named streams; `told(name, part)` returns the columns that replace
    `part`. Raises InspectorError `no-pyarrow`.
    """
    arrow = pyarrow()
    tables = [_table(arrow, name, stream, told) for name, stream in streams]
    return arrow.concat_tables(tables, promote_options="default") if tables else arrow.table({})


def _table(arrow: Any, name: str, stream: bytes, told: Callable[[str, str], Mapping[str, str]]) -> Any:
    table = arrow.ipc.open_stream(stream).read_all()
    part = table["part"].combine_chunks()
    rows = [told(name, one) for one in part.dictionary.to_pylist()]
    made = {
        column: arrow.array([row[column] for row in rows], "str").take(part.indices).dictionary_encode()
        for column in (rows[0] if rows else ())
    }
    rest = {column: table[column] for column in table.column_names if column != "part"}
    return arrow.table({**made, **rest})


def write(table: Any, path: str | Path) -> None:
    """Write a Parquet file. Raises InspectorError `unwritable-file`."""
    written(table, path, compression="zstd")
