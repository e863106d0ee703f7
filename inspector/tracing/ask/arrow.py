"""A trace as an Arrow table, and in a Parquet file: all records, with names for other tools to read.

The table has one row a record: `kind`, `name`, `line`, `thread`, `start_ns` and `duration_ns` for readers,
then the record's own fields, and `site`. The tables for the numbers are JSON in the schema's metadata, under
"inspector.trace"; so nothing is lost (Parquet: https://parquet.apache.org/docs/file-format/).
"""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from inspector.errors import InspectorError, unwritable
from inspector.tracing.ask.store import head_of, restored
from inspector.tracing.events.decode import Events, Rows
from inspector.tracing.events.table import columns

KEY: Final = b"inspector.trace"
MAGIC: Final = b"PAR1"
LEVEL: Final = 6
"""Compression level of zstd."""
ROWS: Final = 1 << 20
"""Rows of a row group."""
_CLOCK: Final = "record_start"
"""All its values differ: splitting into byte streams compresses better than a dictionary."""
_NAMES: Final = ("kind", "name", "line")
_DERIVED: Final = ("start_ns", "duration_ns")
"""Left out of the file: computed from start, duration and tick_ps."""


def to_arrow(events: Events) -> Any:
    """A pyarrow.Table, one row a record. Raises InspectorError `no-pyarrow`."""
    arrow = pyarrow()
    table = columns(events)
    made: dict[str, Any] = {name: named(arrow, table[name]) for name in _NAMES}
    made["thread"] = table["thread"]
    made.update((name, table[name].astype(np.int64)) for name in _DERIVED)
    made |= {f"record_{name}": events.records[name] for name in events.records.dtype.names or ()}
    made |= {"record_thread": events.thread, "record_site": events.site}
    return arrow.table(made).replace_schema_metadata({KEY: json.dumps(head_of(events)).encode()})


def write(events: Events, path: str | Path) -> None:
    """Write the Parquet file. Raises InspectorError `no-pyarrow`, `unwritable-file`."""
    table = to_arrow(events).drop_columns(list(_DERIVED))
    written(
        table,
        path,
        compression="zstd",
        compression_level=LEVEL,
        row_group_size=ROWS,
        use_dictionary=[name for name in table.column_names if name != _CLOCK],
        column_encoding={_CLOCK: "BYTE_STREAM_SPLIT"},
    )


def written(table: Any, path: str | Path, **options: Any) -> None:
    """Write a table with the options of pyarrow.parquet. Raises InspectorError `unwritable-file`."""
    from importlib import import_module

    try:
        import_module("pyarrow.parquet").write_table(table, str(path), **options)
    except OSError as error:
        raise unwritable(path, error) from None


def read(path: str | Path) -> Events:
    """The trace in a Parquet file. Raises InspectorError `no-pyarrow`, `unreadable-trace`."""
    from importlib import import_module

    arrow = pyarrow()
    try:
        table = import_module("pyarrow.parquet").read_table(str(path))
        head = json.loads((table.schema.metadata or {})[KEY])
        raw = {
            name.removeprefix("record_"): table[name].to_numpy()
            for name in table.column_names
            if name.startswith("record_")
        }
        return restored(head, raw)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, arrow.ArrowException) as error:
        raise InspectorError(
            f"{path} is not a saved trace.",
            slug="unreadable-trace",
            why=str(error)[:120],
            do="write it again with trace.to_parquet(path)",
        ) from None


def named(arrow: Any, column: Rows) -> Any:
    """A dictionary column: few different texts, many rows."""
    known: dict[str, int] = {}
    number = [known.setdefault(text, len(known)) for text in column.tolist()]
    return arrow.DictionaryArray.from_arrays(np.array(number, np.int32), arrow.array(list(known), "str"))


def pyarrow() -> Any:
    """The module pyarrow. Raises InspectorError `no-pyarrow`."""
    from importlib import import_module

    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise InspectorError(
            "Arrow tables and Parquet files are made by pyarrow, which is not installed.",
            slug="no-pyarrow",
            why=str(error)[:120],
            do="pip install pyarrow, or trace.save(path), which needs NumPy only",
        ) from None
