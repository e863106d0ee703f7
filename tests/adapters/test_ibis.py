"""ibis on the real library: expressions stay expressions, a memtable names its data."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest
from asking import Look

from inspector.adapters.registry import adapter_of

pytestmark = pytest.mark.libraries


def test_an_expression_is_lazy(ibis: Any, look: Look) -> None:
    table = ibis.table({"a": "int64"}, name="t")
    filtered = table.filter(table.a > 1)
    for x, operation in ((table, "UnboundTable"), (table.a.sum(), "Sum"), (filtered, "Filter")):
        told = look(x)
        assert (told.state, told.waits_for) == ("lazy", "execute()")
        assert told.layers[0].what == operation
        assert "repr" in told.layers[0].would_not


def test_in_interactive_mode_repr_runs_the_query(ibis: Any, look: Look) -> None:
    ibis.options.interactive = True
    try:
        told = look(ibis.table({"a": "int64"}, name="t"))
    finally:
        ibis.options.interactive = False
    assert "repr" in told.layers[0].would


def test_a_memtable_names_its_data(ibis: Any, pa: Any, look: Look) -> None:
    data = pa.table({"a": np.arange(1000)})
    x = ibis.memtable(data)
    told = look(x)
    assert told.state == "shared-foreign" and told.layers[0].what == "memtable over a Table"
    assert adapter_of(type(x)).holds(x)[0][1] is data
    assert told.retained_bytes == 8000
