"""What a trace of R's lazy vectors says first, from facts written by hand."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.lazy_trace import LazyMade, LazyStatement, LazyTrace, LazyVector
from inspector.verdicts.r_objects import lazy_answers

pytestmark = pytest.mark.core
X = LazyVector("x", "compact_intseq", "base", "integer", 500_000, 2_000_000)


def made(by: str, *, copied: bool) -> LazyMade:
    return LazyMade(X, 0, to_write=copied, copied=copied, by=by, functions=(by,))


def said(*done: LazyMade) -> str:
    return lazy_answers(LazyTrace("lazy.R", (LazyStatement(1, "x", (X,), (), done),), 0, 0)).rows[0].text


def test_a_copy_is_not_said_to_be_materialized() -> None:
    both = said(made("rev", copied=False), made("[<-", copied=True))
    materialized = "1 lazy vector; 1 was materialized, by `rev`: 2.0 MB"
    assert both == f"{materialized}; 1 was copied as an ordinary one, by `[<-`: 2.0 MB."
    assert said(made("rev", copied=False)) == f"{materialized}."
    only = said(made("[<-", copied=True))
    assert only.startswith("1 lazy vector; 0 were materialized; 1 was copied as an ordinary one")
    assert said() == "1 lazy vector; 0 were materialized."
