"""What became of tables in chunks, as files give them: expected is what the addresses say.

polars joins the chunks of a frame in place for `to_pandas`, and frees them: another value may lie there then.
"""

# SPDX-License-Identifier: MIT
from typing import Any

import one_line
import pytest

pytestmark = pytest.mark.newest
SETUP = """
n = 300_000
one = pa.table({"id": np.arange(n), "v": np.random.default_rng(1).random(n),
                "name": pa.array([f"k{k % 100}" for k in range(n)])})
table = pa.concat_tables([one.slice(0, 131_072), one.slice(131_072)])
p = pl.from_arrow(table)
few = p.filter(pl.col("id") % 2 == 0)
ids = table["id"]
"""


def rows(line: str) -> dict[str, Any]:
    """Target -> row of a statement."""
    names = {"np": pytest.importorskip("numpy"), "pa": pytest.importorskip("pyarrow")}
    trace = one_line.traced(SETUP, line, names | {"pl": pytest.importorskip("polars")})
    return {row.target: row for row in trace.statements.rows}


def test_columns_in_chunks_that_become_a_matrix_are_copied() -> None:
    row = rows("r = p.select('id', 'v').to_numpy()")["r"]
    assert (row.verdict, row.copied_bytes, row.reason) == ("copied", 4_800_000, "2 columns become one array")


def test_texts_that_were_selected_count_with_their_views() -> None:
    """16 bytes a text of up to 12 bytes: polars keeps it in the view itself."""
    row = rows("r = p.filter(pl.col('id') % 2 == 0)")["r"]
    assert (row.verdict, row.copied_bytes) == ("copied", 150_000 * (8 + 8 + 16))


def test_a_value_that_lies_where_chunks_were_freed_is_no_view() -> None:
    found = rows("r = few.to_pandas()")
    assert "view" not in {row.verdict for row in found.values()}
    assert found["r"].verdict == "copied"


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        ("r = ids.to_pylist()", 2_400_000),
        ("r = table.to_pylist()", 300_000 * 20 + 870_000),
        ("r = p['name'].to_list()", 870_000),
        ("r = p.rows()", 300_000 * 32),
        ("r = p.to_dicts()", 300_000 * 32),
    ],
)
def test_a_column_or_table_that_became_python_objects_is_copied(line: str, copied: int) -> None:
    """Texts count with their characters, tables with the bytes of their columns, offsets among them."""
    row = rows(line)["r"]
    assert row.verdict == "copied" and "became 300,000 " in row.reason
    assert row.copied_bytes == pytest.approx(copied, rel=0.1)


def test_a_cast_of_chunks_says_what_it_copied() -> None:
    """A bit for each number says which are null."""
    row = rows("r = ids.cast(pa.int32())")["r"]
    assert (row.verdict, row.copied_bytes, row.reason) == ("copied", 1_237_500, "the elements of ids")
