"""How a lazy vector and a contract check are drawn."""

# SPDX-License-Identifier: MIT
import pytest
from samples import lazy_fact

from inspector.facts.lazy import LazyClause, LazyContract
from inspector.facts.unknown import Unknown
from inspector.views.lazy import of_contract, of_lazy
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text

pytestmark = pytest.mark.quick


def test_a_materialized_vector() -> None:
    drawn = plain_text(of_lazy(lazy_fact()), Drawing(width=110))
    assert "state    owned · heap   input unchanged" in drawn
    assert (
        "data1    ndarray float64 (5,)  -0.664313, 0.332979, -1.3749, 0.784393, 1.3133  @7f8b958073c8"
        in drawn
    )
    assert "data2    storage float64 (5,)" in drawn
    assert "materialized by np.sort   cell 4:2" in drawn and "40 B  34.0 µs" in drawn


def test_what_is_broken_comes_first() -> None:
    clauses = (
        LazyClause("elt", True, "5 borders"),
        LazyClause("get_region fills out", False, "left out[0] as it was"),
        LazyClause("summaries", Unknown("no summaries"), ""),
    )
    drawn = plain_text(of_contract(LazyContract("Seed", "float64", 5, clauses)), Drawing(width=80))
    assert drawn.index("1 of 3 broken") < drawn.index("get_region fills out") < drawn.index("5 borders")
    assert "? no summaries" in drawn
