"""sqlite3: cursors, rows, blobs and connections, open and closed; no row is fetched."""

# SPDX-License-Identifier: MIT
import contextlib
import sqlite3
from typing import Any

import pytest
from asking import Look
from threads import at_once

import inspector
from inspector.adapters.registry import adapter_of
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_a_cursor_before_during_after(look: Look) -> None:
    connection = sqlite3.connect(":memory:")
    cursor = connection.cursor()
    assert look(cursor).state == "lazy"
    cursor.execute("select 1 union select 2")
    told = look(cursor)
    assert isinstance(told.state, Unknown) and "fetchone" in told.state.reason
    assert told.layers[0].evidence[0].says == "1 columns"
    assert cursor.fetchall() == [(1,), (2,)], "none was taken"
    assert isinstance(look(cursor).state, Unknown), "an exhausted one shows no flag"
    assert adapter_of(type(cursor)).holds(cursor) == (("connection", connection),)
    connection.close()
    assert look(cursor).state == look(connection).state == "closed"


def test_a_closed_cursor_of_an_open_connection(look: Look) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for statement in ("", "select 1", "create table t(b)"):
            cursor = connection.cursor()
            cursor.execute(statement)
            assert look(cursor).state != "closed"
            cursor.close()
            assert look(cursor).state == "closed"
        assert look(connection).state != "closed"


def test_rows_blobs_and_a_cursor_never_begun(look: Look) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("create table t(b blob)")
        connection.execute("insert into t values(zeroblob(1000))")
        assert look(connection.execute("select b from t").fetchone()).layers[0].value == "computed"
        blob = connection.blobopen("t", "b", 1)
        assert look(blob).layers[0].value == "computed"
        blob.close()
        assert look(blob).state == "closed"
        assert look(sqlite3.Cursor.__new__(sqlite3.Cursor)).state == "closed"


def test_a_connection_of_another_thread(look: Look) -> None:
    (made,) = at_once(lambda: sqlite3.connect(":memory:", check_same_thread=False))
    assert look(made).layers[0].value == "computed"
    made.close()


def test_a_subclass_of_the_users_is_not_asked(look: Look) -> None:
    class Cursor(sqlite3.Cursor):
        @property
        def description(self) -> Any:
            raise AssertionError("asked")

    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        assert isinstance(inspector.materialization(Cursor(connection)).state, Unknown)
