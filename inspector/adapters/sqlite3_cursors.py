"""sqlite3: connections, cursors, rows, blobs. Inspecting fetches no row."""

# SPDX-License-Identifier: MIT
import functools
import sqlite3
import struct
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.facts.unknown import Unknown

_CONNECTION = sqlite3.Cursor.__dict__["connection"].__get__
_DESCRIPTION = sqlite3.Cursor.__dict__["description"].__get__
_CHANGES = sqlite3.Connection.__dict__["total_changes"].__get__
NOT_SHOWN = Unknown("sqlite3 does not show whether rows are left: fetchone() would take one")


class Sqlite3Cursors(Adapter):
    """Exact Connection, Cursor, Row, Blob; reads their C members."""

    library = "sqlite3"
    exact = ("Connection", "Cursor", "Row", "Blob")

    def self_test(self) -> None:
        """A cursor has a description after it has run; a closed connection is recognized."""
        connection = sqlite3.connect(":memory:")
        cursor = connection.cursor()
        before = _DESCRIPTION(cursor)
        cursor.execute("select 1")
        states = (before, _DESCRIPTION(cursor) is None, _is_closed(connection))
        connection.close()
        if (*states, _is_closed(connection)) != (None, False, False, True):
            raise ValueError(f"a cursor's members say {states}")

    def owns(self, x: Any) -> bool | Unknown:
        """A row owns its values; everything else belongs to SQLite."""
        return type(x) is sqlite3.Row

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """A cursor's connection."""
        held = _CONNECTION(x) if type(x) is sqlite3.Cursor else None
        return () if held is None else (("connection", held),)

    def layers(self, x: Any) -> Told:
        """Whether it is closed and has run; the number of rows left is unknown."""
        kind = type_name(type(x))
        if type(x) is sqlite3.Row:
            return Told((Layer("wrapper", kind, "computed", "heap"),))
        if type(x) is not sqlite3.Cursor:
            return _simple(x)
        connection, described = _CONNECTION(x), _DESCRIPTION(x) is not None
        if connection is None or _is_closed(connection):
            said = attribute("x.connection", "closed" if connection is not None else "none")
            return Told((Layer("wrapper", kind, "closed", "none", evidence=(said,)),))
        if (at := _closed_at()) and _words(x)[at] == 1:
            return Told((Layer("wrapper", kind, "closed", "none", evidence=(field("closed", 1),)),))
        columns = len(_DESCRIPTION(x)) if described else 0
        said = attribute("x.description", f"{columns} columns" if described else "None: no select has run")
        value: Any = NOT_SHOWN if described else "lazy"
        state: Any = NOT_SHOWN if described else "lazy"
        use = ("fetchone()", "iteration: each row is gone after") if described else ("execute()",)
        layer = Layer(
            "wrapper", kind, value, "none", "foreign", (said,), use, ("x.description", "x.rowcount")
        )
        words = "Each row is made when it is fetched; whether any are left is not known."
        unfetched = Unknown("known when all rows are fetched")
        return Told((layer,), state, unfetched, in_words=words if described else "")


def _simple(x: Any) -> Told:
    """A connection or a blob: open or closed."""
    kind = type_name(type(x))
    if type(x) is sqlite3.Connection:
        closed, place = _is_closed(x), "x.total_changes"
    else:
        closed, place = _is_gone(x), "len(x)"
    said = attribute(place, "raises: closed" if closed else "answers")
    where: Any = "none" if closed else Unknown("a file or memory: asking would be a statement")
    words = "" if closed else "Open; how much of it SQLite keeps in memory is not known: it does not tell."
    layer = Layer("wrapper", kind, "closed" if closed else "computed", where, evidence=(said,))
    return Told((layer,), in_words=words)


@functools.cache
def _closed_at() -> int:
    """Where a cursor's struct says that it was closed: the one word that close() makes 1; 0: not found.

    `closed` of pysqlite_Cursor (Modules/_sqlite/cursor.h); no attribute shows it.
    """
    connection = sqlite3.connect(":memory:")
    cursor = connection.cursor()
    before = _words(cursor)
    cursor.close()
    pairs = enumerate(zip(before, _words(cursor), strict=True))
    connection.close()
    changed = [at for at, (was, now) in pairs if was != now]
    return changed[0] if len(changed) == 1 and _words(cursor)[changed[0]] == 1 else 0


def _words(cursor: Any) -> tuple[int, ...]:
    """The struct after PyObject_HEAD, as C ints."""
    size = type.__dict__["__basicsize__"].__get__(sqlite3.Cursor) // 4 * 4
    raw = _native.read(id(cursor), size) or bytes(size)
    return (0,) * 4 + struct.unpack_from(f"={size // 4 - 4}i", raw, 16)


def _is_closed(connection: Any) -> bool:
    """Whether the connection refuses to count its changes; for a subclass too by the C member."""
    try:
        _CHANGES(connection)
    except sqlite3.ProgrammingError as error:
        return "closed" in str(error)
    return False


def _is_gone(blob: Any) -> bool:
    try:
        len(blob)
    except sqlite3.ProgrammingError:
        return True
    return False


ADAPTER = Sqlite3Cursors()
