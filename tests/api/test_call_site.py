"""A report is named by what the user typed."""

# SPDX-License-Identifier: MIT
import functools

import pytest

import inspector
from inspector.objects.call_site import as_typed

pytestmark = [pytest.mark.core, pytest.mark.quick]


def test_the_argument_as_typed_names_the_report() -> None:
    rows = [[1], "é", 3]
    key = 0
    assert inspector.inspect(rows).name == "rows"
    assert inspector.inspect(rows[key]).name == "rows[key]"
    assert ("é", inspector.inspect(rows[1]).name)[1] == "rows[1]"
    assert inspector.inspect(x=rows).name == "rows"
    assert inspector.inspect(rows, name="other").name == "other"
    assert (
        inspector.inspect(
            [
                *rows
            ],
        ).name
        == "[*rows]"
    )  # fmt: skip


def test_a_long_argument_is_cut() -> None:
    found = inspector.inspect([1000000001, 1000000002, 1000000003, 1000000004, 1000000005, 1000000006]).name
    assert len(found) == 60
    assert found.endswith("…")


def test_where_the_source_cannot_tell_it_is_an_object() -> None:
    other = inspector.inspect
    rows = [1]
    assert other(rows).name == "object"
    assert inspector.inspect(*[rows]).name == "object"
    assert functools.partial(inspector.inspect, rows)().name == "object"
    assert eval("inspector.inspect(rows)").name == "object"
    assert next(map(inspector.inspect, [rows])).name == "object"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("get_ipython().run_line_magic('time', 'f(x)')", "%time f(x)"),
        ("get_ipython().run_line_magic('who', '')", "%who"),
        ("get_ipython().run_cell_magic('inspect_c', 'scaled -i x', 'int y;\\n')", "%%inspect_c scaled -i x"),
        ("get_ipython().run_line_magic(name, 'f(x)')", "get_ipython().run_line_magic(name, 'f(x)')"),
        ("get_ipython().run_cell('x')", "get_ipython().run_cell('x')"),
        ("f(x", "f(x"),
    ],
)
def test_a_magic_is_told_as_it_was_typed(text: str, typed: str) -> None:
    assert as_typed(text) == typed
