"""In a real IPython shell: what `%inspect` shows, what it gives back, and what it leaves alone."""

# SPDX-License-Identifier: MIT
import sys

import pytest

from inspector.report import Report

pytestmark = pytest.mark.core


@pytest.mark.quick
def test_a_look_is_displayed_and_is_the_cells_result(shell, run) -> None:
    shell.run_cell("x = [1, 2]")
    result, shown = run("%inspect x")
    assert type(result.result) is Report
    assert [set(bundle) >= {"text/plain", "text/html"} for bundle in shown] == [True]


def test_a_terminal_draws_the_view_that_was_asked_for(shell, run) -> None:
    shell.run_cell("import numpy as np\na = np.arange(12.).reshape(3, 4)\nb = a[::2, 1::2]")
    _, (bundle,) = run("%inspect b --strides")
    text = bundle["text/plain"]
    assert text.lstrip().startswith("A view of a")
    assert "│  8 │ 10 │" in text and "A view of a" in text and "held by" not in text
    _, (bundle,) = run("%inspect b --layers")
    assert "pages" in bundle["text/plain"] and "│  8 │ 10 │" not in bundle["text/plain"]
    assert bundle["text/plain"].lstrip().startswith("to C code  32 B are copied first")
    _, (bundle,) = run("x = 5\n%inspect x --graph")  # which all the process refers to: folded
    assert "more (--all)" in bundle["text/plain"]


def test_every_statement_of_a_cell_is_displayed_but_no_assigned_report(shell, run) -> None:
    _, shown = run("x = [1]\n%inspect x\nfor y in x, x:\n    %inspect y\nr = %inspect x\n%inspect x")
    assert len(shown) == 4
    assert shell.user_ns["r"].name == "x"


@pytest.mark.quick
def test_a_look_does_not_move_the_history(shell, run) -> None:
    shell.run_cell("x = [1]", store_history=True)
    shell.run_cell("x", store_history=True)
    run("%inspect x")
    run("%inspect _")
    assert shell.user_ns["_"] is shell.user_ns["x"]
    assert shell.displayhook._ is shell.user_ns["x"]


LOOKS = ["%inspect x", "%inspect x y", "%inspect x x", "%inspect (x)", "%inspect x --owners"]
LOOKS += ["%inspect x.nope", "%inspect"]


@pytest.mark.quick
@pytest.mark.parametrize("cell", LOOKS)
def test_refcounts_are_as_before(shell, run, cell: str) -> None:
    shell.run_cell("x, y = [1], [2]")
    names = shell.user_ns
    before = sys.getrefcount(names["x"]), sys.getrefcount(names["y"])
    for _ in range(3):
        run(cell)
    assert (sys.getrefcount(names["x"]), sys.getrefcount(names["y"])) == before


LEAKS_REFUSED = ("--repeat many", "--repeat 0", "--repeat -2", "--isolate", "--confirm", "kept")
OF_ONE_OBJECT = ("--owners", "--chain --retained", "--ask", "--reveal", "--graph", "--layers", "--to numpy")
OF_ONE_OBJECT += ('--after "1 + 1"', "--live")
REFUSED = {
    "%inspect nope": "unknown-name",
    "%inspect 1 +": "not-an-expression",
    "%inspect exit()": "expression-raised",
    "%inspect raising": "expression-raised",
    "%inspect 1 2 3 4 5 6 7 8 9 10 11 12 13": "too-many-objects",
    "%inspect 1 --width 5": "bad-option",
    "%inspect 1 --svg /nowhere/at/all.svg": "unwritable-file",
    # from 3.12 on IPython itself refuses the cell
    **({"%inspect \x00": "not-an-expression"} if sys.version_info < (3, 12) else {}),
    "%inspect " + "(" * 500: "not-an-expression",
    "%%inspect x\n1": "not-an-expression",
    **{f"%inspect {words}": "misplaced-option" for words in OF_ONE_OBJECT},
    **{f"%inspect 1 --{word}": "misplaced-option" for word in ("map", "live", "fields")},
    **{f"%inspect kept other --{word}": "misplaced-option" for word in ("owners", "to numpy")},
    **{f"%%inspect --{word}\n1": "misplaced-option" for word in ("owners", "map")},
    "%inspect_trace": "not-an-expression",
    "%inspect_trace -m nothing_of_that_name f()": "unknown-module",
    "%inspect_trace --grade loud f()": "bad-option",
    "%%inspect_trace kept\nkept": "not-an-expression",
    "%%inspect_leaks -m nothing_of_that_name\npass": "unknown-module",
    **{f"%%inspect_leaks {words}\npass": "bad-option" for words in LEAKS_REFUSED},
    "%%inspect_c f -i nowhere\n;": "no-such-name",
    "%%inspect_c --nothing\nint a;": "bad-option",
    "%%inspect_c --cache-version 3\nint a;": "bad-option",
    "%%inspect_c\n#pragma inspector other\nint a;": "no-such-section",
    "%%inspect_c a-b -i x\nint a;": "not-a-c-name",
    "%inspect_watch kept[0]": "not-a-name",
    "%inspect_watch --no": "not-a-name",
    "%inspect_break": "not-an-expression",
    "%%inspect_break --preset no\n1": "no-preset",
    "%inspect_debug": "bad-option",
    "%inspect_crash": "bad-option",
    "%inspect_crash 'a": "bad-option",
    "%inspect_crash /proc/self/fdinfo": "no-remains",
    "%inspect_writes kept": "not-an-expression",
    "%inspect_writes absent -- 1": "unknown-name",
    "%%inspect_writes --no kept\npass": "bad-option",
    "%%inspect_writes bytearray(1 << 29)\npass": "too-wide",
}


@pytest.mark.parametrize("cell", REFUSED, ids=lambda cell: ascii(cell[:40]))
def test_what_cannot_be_looked_at_is_one_quiet_block(shell, run, cell: str, capsys) -> None:
    """It begins with the magic as it was typed."""
    shell.run_cell("class Mute(Exception):\n    def __str__(self): raise self\nkept, other = 1, 2")
    text = cell.replace("raising", "[Mute() for _ in ()].pop()")
    result, shown = run(text + "\nkept = 2" if not cell.startswith("%%") else text)
    assert result.success
    (block,) = (one["text/plain"] for one in shown)
    assert block.startswith(f"{cell.split()[0]}: ")
    assert f"docs/messages.md#{REFUSED[cell]}" in block
    assert "Traceback" not in block
    assert capsys.readouterr().err == ""
    assert shell.user_ns["kept"] == (1 if cell.startswith("%%") else 2)


def test_a_default_of_config_is_a_wish_that_the_table_of_names_need_not_meet(shell, run) -> None:
    shell.run_line_magic("config", "InspectMagics.owners = True")
    try:
        _, shown = run("%inspect")
        assert "docs/messages.md" not in shown[0]["text/plain"]
    finally:
        shell.run_line_magic("config", "InspectMagics.owners = False")


@pytest.mark.parametrize(
    ("cell", "warned"),
    [
        *((f"%inspect {text}", []) for text in ("5 is 5", "5 is 5 5 is 5", "()()()")),
        *((f"%%{magic}\n5 is 5", [SyntaxWarning]) for magic in ("inspect", "inspect_trace", "inspect_leaks")),
    ],
)
def test_an_expression_warns_of_nothing_and_a_cell_once(run, cell: str, warned: list, recwarn) -> None:
    run(cell)
    assert [one.category for one in recwarn] == warned


@pytest.mark.quick
def test_secrets_stay_masked_side_by_side(shell, run) -> None:
    shell.run_cell("session_id, b = 'hunter2', 'other'")
    _, shown = run("%inspect session_id b --fields")
    assert "hunter2" not in str(shown) and "'other'" in shown[0]["text/plain"]


def test_options_stand_before_or_after_and_a_minus_stays_a_minus(shell, run) -> None:
    shell.run_cell("a, b = 7, 5")
    assert shell.run_line_magic("inspect", "--explain a -b -v").name == "a -b"
    assert shell.run_line_magic("inspect", "-a").name == "-a"
    text = "{'k --all':  1}['k --all']"
    assert shell.run_line_magic("inspect", f"{text}  --all").name == text


@pytest.mark.quick
def test_json_is_printed(run, capsys) -> None:
    _, shown = run("x = 1\n%inspect x --json\nprinted = 1")
    assert shown == []


@pytest.mark.quick
def test_its_help_shows_examples_and_every_option(shell) -> None:
    text = shell.find_line_magic("inspect").__doc__
    for part in ("%inspect x y", "%%inspect", "r = %inspect x", "--owners", "--explain", "--json", "-v"):
        assert part in text


@pytest.mark.quick
def test_defaults_come_from_config(shell, run) -> None:
    shell.run_line_magic("config", "InspectMagics.width = 40")
    shell.run_cell("x = 'word ' * 20")
    _, shown = run("%inspect x")
    assert max(map(len, shown[0]["text/plain"].splitlines())) <= 40
    run("%config InspectMagics.width = 3")
    assert shell.magics_manager.registry["InspectMagics"].width == 40


@pytest.mark.quick
def test_pages_and_pictures_are_written(shell, run, tmp_path) -> None:
    run(f"x = [1]\n%inspect x --html {tmp_path / 'x.html'} --svg {tmp_path / 'x.svg'}")
    assert (tmp_path / "x.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<svg")
