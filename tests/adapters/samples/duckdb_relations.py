"""Objects that the adapter `duckdb_relations` is tried on."""

# SPDX-License-Identifier: MIT
import duckdb


def samples():
    """A relation, its connection, and both after close()."""
    connection = duckdb.connect()
    relation = connection.sql("select range as i from range(10)")
    yield from (relation, relation.filter("i > 3"), connection)
    connection.close()
    yield from (relation, connection)
