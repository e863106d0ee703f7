"""Values that hold an operand's bytes as another type, and values that equal an operand by chance."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

pytestmark = pytest.mark.core


def row(setup: str, line: str) -> Any:
    """The row of a statement that binds r."""
    return one_line.row(one_line.traced(setup, line, {"np": np}))


def test_bytes_read_as_another_type_are_a_copy() -> None:
    ints = "x = np.random.default_rng(5).integers(0, 1 << 60, 1000)"
    assert row(ints, "r = np.frombuffer(x.tobytes(), dtype=float)").verdict == "copied"
    assert row("x = np.zeros(1000, int)", "r = np.zeros(1000)").verdict == "new"
    assert row(ints, "r = x * 1.5").verdict == "new values"


def test_what_was_computed_equals_an_operand_only_probably() -> None:
    found = row("x = np.random.default_rng(5).random(1000)", "r = np.ma.power(x, 1)")
    assert (found.verdict, found.certain) == ("copied", False)
    found = row("x = np.random.default_rng(5).random(1000)", "r = x.copy()")
    assert (found.verdict, found.certain) == ("copied", True)


@pytest.mark.parametrize("line", ["r = x * 1", "r = +x", "r = np.conj(x)", "r = np.floor(np.trunc(x) + x)"])
def test_the_catalogue_and_a_trace_agree_of_what_computes_nothing_new(line: str) -> None:
    found = row("x = np.random.default_rng(5).random(1000).cumsum().round()", line)
    is_same = "floor" not in line
    assert (found.verdict, found.certain) == (("copied", False) if is_same else ("new values", True))
    assert not found.instead


def test_times_in_another_unit_have_one_reason_and_no_advice() -> None:
    found = row("x = np.arange(200_000).astype('M8[ns]')", "r = x.astype('M8[s]')")
    assert (found.verdict, found.reason) == ("copied", "its times are written in the unit that was asked for")
    assert found.losses and found.instead == ""


@pytest.mark.parametrize("line", ["np.zeros(n, dtype=kinds)", "np.empty(n, kinds)", "np.ones(n, kinds)"])
def test_a_list_that_says_the_type_is_no_source(line: str) -> None:
    found = row("kinds = [('a', 'i4'), ('b', 'f8')]; n = 1000", f"r = {line}")
    assert (found.verdict, found.copied_bytes) == ("new", 0)


def test_one_number_many_times_is_of_no_operand_that_was_not_compared() -> None:
    """The zeros of `x` that were chosen differ from all places, which says nothing."""
    setup = "x = np.zeros((600, 800)); x[:10] = 5; places = np.arange(10_000, 300_000)"
    assert row(setup, "r = x.ravel()[places]").verdict == "new"


def test_a_view_on_the_way_is_not_what_a_statement_bound() -> None:
    x = "x = np.ones((300, 300))"
    for line in ("r = x.ravel().max()", "r = len(x.ravel().tolist())", "print(x.reshape(-1)[:2])"):
        rows = one_line.traced(x, line, {"np": np}).statements.rows
        assert {one.verdict for one in rows if one.target in ("", "r")} <= {"no bytes"}
    assert row(x, "r = x.ravel()").verdict == "view"


def test_what_is_read_from_a_file_object_is_no_copy_of_it() -> None:
    pandas = pytest.importorskip("pandas")
    setup = "import io; f = io.StringIO('a,b\\n' + '12,2.5\\n' * 9000)"
    found = one_line.row(one_line.traced(setup, "r = pd.read_csv(f)", {"pd": pandas}))
    assert found.verdict in ("new", "new values") and found.copied_bytes == 0


@pytest.mark.parametrize("made", ["lower", "upper", "capitalize", "swapcase", "title"])
def test_bytes_without_many_letters_are_no_copy_where_letters_changed(made: str) -> None:
    octets = "x = bytearray(np.random.default_rng(3).permutation(256)[:224].astype('u1').tobytes()) * 16"
    assert row(octets, f"r = x.{made}()").verdict == "new values"
    assert row("x = bytearray(range(64)) * 16", f"r = x.{made}()").verdict == "copied", "it has no letters"
