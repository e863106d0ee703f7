"""check_lazy: honest providers pass, the seed's bug falls in one call, each clause has a breaker."""

# SPDX-License-Identifier: MIT
import lazy_providers as providers
import numpy as np
import pytest
from refused import refused

import inspector
from inspector import lazy
from inspector.facts.lazy import LazyClause, LazyContract
from inspector.facts.unknown import Unknown
from inspector.lazy import check
from inspector.views.lazy import of_contract
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text

pytestmark = [pytest.mark.core, pytest.mark.quick]


def names(contract):
    return {clause.name for clause in contract.broken}


@pytest.mark.parametrize("length", [0, 1, 5, 16_384, 16_385, 40_000])
def test_honest_providers_keep_every_clause(length):
    for make in (providers.Squares, providers.OnlyElt, providers.OnlyRegion, providers.Plain):
        assert check.check_lazy(make(length)).ok, str(check.check_lazy(make(length)))


@pytest.mark.parametrize("length", [0, 1, 7, 70_001])
def test_our_own_recipes_keep_every_clause(length):
    x = np.linspace(-3, 9, length)
    made = [
        lazy.abs(x),
        lazy.abs(x[::-1]),
        lazy.abs(lazy.abs(x)),
        lazy.arange(length),
        lazy.arange(0.5, 0.5 + length / 4, 0.25),
        lazy.map(np.sqrt, lazy.abs(x)),
        lazy.map(lambda v: v * 2, x, dtype="f4"),
        lazy.abs(x)[::-3],
        lazy.abs(x)[length // 3 :],
        lazy.abs(x) + lazy.arange(length),
        np.isnan(lazy.abs(x)),
    ]
    for vector in made:
        contract = check.check_lazy(vector)
        assert contract.ok, f"{vector!r}\n{contract}"
        assert vector.state == "lazy", "a lazy.Vector is checked as a duplicate"


def test_the_seeds_get_region_falls_in_one_call_of_a_vector_too():
    contract = inspector.check_lazy(providers.SeedAsVector())
    assert not contract.ok
    assert {"get_region never materializes", "get_region fills out"} & names(contract)


def test_the_seeds_three_mistakes_are_told_apart():
    """Materializes, fills nothing, returns the larger count: each is named, with the call that shows it."""
    contract = inspector.check_lazy(providers.Seed())
    told = {"get_region never materializes", "get_region fills out", "get_region returns count"}
    assert told <= names(contract)
    evidence = {clause.name: clause.evidence for clause in contract.broken}
    assert evidence["get_region fills out"] == "get_region(0, 1, out) left out[0] as it was"
    assert evidence["get_region returns count"] == "get_region(0, 1, out) returned 100000, not 1"
    assert str(contract).splitlines()[1].startswith("BROKEN")


@pytest.mark.parametrize("provider", providers.BROKEN, ids=lambda kind: kind.__name__)
def test_each_clause_has_a_provider_that_breaks_it(provider):
    assert providers.BROKEN[provider] in names(check.check_lazy(provider()))


def test_every_clause_is_broken_by_some_specimen():
    clauses = {*check.WHILE_LAZY, *check.MATERIALIZED, "dataptr computes all"}
    assert clauses == set(providers.BROKEN.values())


def test_other_lengths_are_made_and_checked():
    contract = check.check_lazy(providers.Plain(10), make=providers.Plain)
    assert contract.ok
    assert sum("at length" in clause.name for clause in contract.clauses) == 3

    def broken_when_empty(length):
        return providers.OneAtTheEnd(length) if length == 0 else providers.Plain(length)

    assert names(check.check_lazy(providers.Plain(10), broken_when_empty)) == {"all clauses at length 0"}


@pytest.mark.parametrize("thing", [object(), "text", [1.0], 3.5, np.zeros(3)])
def test_what_is_no_provider_is_refused_in_a_sentence(thing):
    with refused("lazy-not-a-provider"):
        check.check_lazy(thing)


def test_what_is_broken_comes_first() -> None:
    clauses = (
        LazyClause("elt", True, "5 borders"),
        LazyClause("get_region fills out", False, "left out[0] as it was"),
        LazyClause("summaries", Unknown("no summaries"), ""),
    )
    drawn = plain_text(of_contract(LazyContract("Seed", "float64", 5, clauses)), Drawing(width=80))
    assert drawn.index("1 of 3 broken") < drawn.index("get_region fills out") < drawn.index("5 borders")
    assert "? no summaries" in drawn
