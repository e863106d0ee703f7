"""None means none: a claim of nothing says what was looked at, in sentences and in lines."""

# SPDX-License-Identifier: MIT
import ast

import claims
import pytest
import sources

from inspector.facts.answers import Answer
from inspector.facts.nothing import Nothing
from inspector.facts.unknown import Unknown
from inspector.views.amounts import total
from inspector.views.grammar import Line, nothing, text

pytestmark = [pytest.mark.core, pytest.mark.quick]

SCOPE = Nothing("12 calls", "3 dropped records")


def said(text: str, *scope: Nothing) -> Answer:
    return Answer("x", text, True, (), (), "", 0, scope)


def test_a_bare_claim_is_seen() -> None:
    answers = (
        said("No copy was seen.", Nothing("", "2 calls")),
        said("No copy was seen in 12 calls.", SCOPE),
        said("Not known: no key."),
    )
    lines = (Line("a", text("none")), Line("b", nothing(SCOPE)), Line("c", text("none here")))
    assert [one.text for one in answers if claims.bare(one)] == ["No copy was seen."]
    assert [one.label for one in lines if claims.shows_bare(one)] == ["a"]
    seen, claims.found[:] = [*claims.found], []
    assert [one.partition(":")[0] for one in seen] == ["x", "a"]


def test_a_claim_shows_its_scope_and_a_sum_its_unknowns() -> None:
    assert [span.text for span in nothing(SCOPE, "no copy")] == [
        "no copy",
        "  in 12 calls; not looked at: 3 dropped records",
    ]
    gone = Unknown("gone")
    assert (total([1, gone, 2]), total([gone, gone]), total([]), total([5])) == (
        "3 B + ? of 1",
        "? of 2",
        "0 B",
        "5 B",
    )


def test_no_view_adds_up_unknown_amounts_as_zero() -> None:
    """`views.amounts.total` counts them; a sum that filters by type drops them."""
    dropped = [
        f"{sources.name(path)}:{node.lineno}"
        for path in sources.PYTHON
        if "/views/" in str(path) and path.stem != "amounts"
        for node in ast.walk(sources.tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "sum"
        and "isinstance" in ast.unparse(node)
        and "Unknown" in ast.unparse(node)
    ]
    assert dropped == []
