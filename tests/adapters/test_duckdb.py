"""duckdb on the real library: a relation is never run, nor is a connection asked."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
from asking import Look

from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_a_relation_is_not_run(duckdb: Any, look: Look) -> None:
    with duckdb.connect() as connection:
        ran: list[int] = []
        connection.create_function("seen", lambda n: ran.append(n) or n, ["BIGINT"], "BIGINT")  # type: ignore[func-returns-value]
        relation = connection.sql("select seen(range) as i from range(3)")
        ran.clear()  # binding may have run it on constants
        told = look(relation)
        assert ran == []
        if hasattr(type(relation), "_con"):
            assert (told.state, told.waits_for) == ("lazy", "fetchall()")
            assert "repr" in told.layers[0].would
        else:
            assert isinstance(told.state, Unknown) and "execute()" in told.state.reason
        assert isinstance(look(connection).state, Unknown)
        repr(relation)
        assert len(ran) >= 3, "repr runs the query"


def test_a_closed_connection_raises_nothing(duckdb: Any, look: Look) -> None:
    connection = duckdb.connect()
    relation = connection.sql("select 1")
    connection.close()
    look(relation), look(connection)
