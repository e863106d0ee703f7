"""Objects that the adapter `sqlite3_cursors` is tried on."""

# SPDX-License-Identifier: MIT
import sqlite3


def samples():
    """Connections open and closed, cursors before, during and after, rows, blobs."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute("create table t(b blob)")
    connection.execute("insert into t values(zeroblob(1000))")
    run = connection.execute("select rowid, b from t")
    yield from (connection, connection.cursor(), run, run.fetchone(), sqlite3.Cursor.__new__(sqlite3.Cursor))
    blob = connection.blobopen("t", "b", 1)
    yield blob
    blob.close()
    connection.close()
    yield from (connection, run)
