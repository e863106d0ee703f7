"""Objects that the adapter `pandas_tables` is tried on."""

# SPDX-License-Identifier: MIT
import pandas as pd


def samples():
    """A table of numbers, one of objects, an empty one."""
    tables = pd._libs.hashtable
    yield tables.Int64HashTable(0)
    for kind, key in (("Int64", 7), ("PyObject", "a key")):
        made = getattr(tables, f"{kind}HashTable")(10)
        made.set_item(key, 1)
        yield made
