"""duckdb: relations (queries that have not run) and connections. repr runs the query: it is never called."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter, stored, type_name
from inspector.adapters.told import Layer, Told, of_type, recipe
from inspector.facts.unknown import Unknown

_RUNS = ("fetchall()", "df()", "arrow()", "repr", "len", "x.shape")
NOT_SHOWN = Unknown("duckdb does not show whether execute() has left a result in it")
_CONNECTED = "A connection; what DuckDB keeps in memory for it is not known: asking would begin a statement."
NOT_ASKED = Unknown("querying a connection would begin a statement")


class DuckdbRelations(Adapter):
    """The exact relation and connection. No attribute is read: even .columns binds the query again."""

    library = "duckdb"
    versions = ("1.1", "3")
    exact = ("DuckDBPyRelation", "DuckDBPyConnection")

    def self_test(self) -> None:
        """A relation without a table can be made; from duckdb 2 on it stores no result."""
        relation = sys.modules["duckdb"].DuckDBPyRelation
        if _keeps_no_result() and "_con" not in vars(relation):
            raise ValueError("a relation of duckdb 2 keeps its connection elsewhere")

    def owns(self, x: Any) -> bool | Unknown:
        """A relation owns no bytes; those of a connection belong to the database."""
        return False if type_name(type(x)).endswith("Relation") else NOT_ASKED

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The connection of a relation, if it is stored in Python."""
        connection = stored(x, "_con")
        return () if connection is None else (("_con", connection),)

    def layers(self, x: Any) -> Told:
        """A relation is lazy: each use runs the query again."""
        kind = type_name(type(x))
        seen = of_type(kind)
        if kind.endswith("Connection"):
            layer = Layer("wrapper", kind, NOT_ASKED, NOT_ASKED, NOT_ASKED, (seen,))
            return Told((layer,), NOT_ASKED, in_words=_CONNECTED)
        if _keeps_no_result():
            size = Unknown("known when the query has run")
            return recipe(kind, _RUNS[0], seen, also=_RUNS[1:], would_not=("type",), logical_bytes=size)
        layer = Layer("wrapper", kind, NOT_SHOWN, NOT_SHOWN, "owned", (seen,), _RUNS, ("type",))
        return Told((layer,), NOT_SHOWN)


def _keeps_no_result() -> bool:
    return hasattr(sys.modules["duckdb"].DuckDBPyRelation, "_con")


ADAPTER = DuckdbRelations()
