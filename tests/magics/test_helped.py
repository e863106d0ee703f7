"""A newcomer's first words: `-h`, `--help`, a comment, half an expression, a view of what has none."""

# SPDX-License-Identifier: MIT
import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]

MAGICS = ("inspect", "inspect_trace", "inspect_break", "inspect_crash", "inspect_debug", "inspect_watch")


@pytest.mark.parametrize("magic", MAGICS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_a_sentence_and_examples_on_one_screen(shown, magic, option) -> None:
    lines = shown(f"%{magic} {option}").splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 78
    assert lines[0][0].isupper() and any(line.startswith(f"  %{magic} ") for line in lines)


def test_minus_h_of_a_name_is_an_expression(shell, shown) -> None:
    shell.user_ns["h"] = 5
    assert "-h" in shown("%inspect -h").split()


def test_a_comment_is_no_part_of_a_name(shown, shell) -> None:
    shell.run_cell("u = [1]; d = {'#': u}")
    assert shown("%inspect u  # comment").split()[:2] == ["u", "list"]
    assert shown("%inspect d['#'] # x").split()[:2] == ["d['#']", "list"]


def test_half_an_expression_is_told_whole(shown, shell) -> None:
    shell.run_cell("a = 1")
    assert shown("%inspect a +").startswith("%inspect: a + is not an expression.")
    assert "`a` and `b`" not in shown("%inspect a a")


def test_a_view_that_an_object_has_not_is_refused(shown) -> None:
    assert "and [1, 2] is a list." in shown("%inspect [1, 2] --strides")
    assert "cannot be shown at once" in shown("%inspect [1] --layers --graph")
