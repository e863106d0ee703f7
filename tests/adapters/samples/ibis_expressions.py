"""Objects that the adapter `ibis_expressions` is tried on."""

# SPDX-License-Identifier: MIT
import ibis
import pyarrow as pa


def samples():
    """Expressions over no table, a memtable, scalars, columns."""
    table = ibis.table({"a": "int64"}, name="t")
    yield from (table, table.a, table.a.sum(), table.filter(table.a > 1), ibis.literal(1))
    yield ibis.memtable(pa.table({"a": [1, 2]}))
