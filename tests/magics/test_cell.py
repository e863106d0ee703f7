"""`%%inspect`: the cell runs as IPython runs it, and what it changed is shown."""

# SPDX-License-Identifier: MIT
import gc
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.core


def changed(shell, run, cell: str) -> dict[str, str]:
    """Name -> how it changed."""
    run("%%inspect\n" + cell)
    difference = shell.last_execution_result.result.difference
    return {row.name: row.change for row in difference.names}


@pytest.fixture
def shell(shell):
    shell.run_cell("%%inspect\nkept, gone, rebound = [1], [2], [3]", store_history=True)
    return shell


@pytest.mark.quick
def test_born_gone_rebound_and_moved_names_are_told(shell, run) -> None:
    expected = {name: name for name in ("born", "gone", "rebound", "kept")}
    assert changed(shell, run, "born = [kept]\ndel gone\nrebound = [4]") == expected
    rows = {row.name: row for row in shell.last_execution_result.result.difference.names}
    assert rows["kept"].references == rows["born"].references == 1
    assert "n" in changed(shell, run, "n = %inspect kept") and shell.user_ns["n"].name == "kept"


def test_bytes_kept_are_told(shell, run) -> None:
    changed(shell, run, "big = bytearray(10_000_000)")
    difference = shell.last_execution_result.result.difference
    assert 9_990_000 < difference.bytes < 10_010_000
    assert difference.walk_ns > 0
    run("%%inspect\ndel big")
    assert -10_010_000 < shell.last_execution_result.result.difference.bytes < -9_990_000


def test_nothing_of_the_tool_or_of_ipython_is_counted(shell, run) -> None:
    gc.collect()
    gc.disable()  # what others left is not what the cell freed
    try:
        run("%%inspect\npass")
    finally:
        gc.enable()
    difference = shell.last_execution_result.result.difference
    assert (difference.names, difference.types) == ((), ())


TWO_CELLS = r"""
%load_ext inspector
import ctypes
c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p
shell = get_ipython()
shell.run_cell_magic(
    "inspect", "", "for _ in range(6): c.memset(ctypes.c_void_p(c.malloc(9_000_000)), 1, 9_000_000)"
)
shell.run_cell_magic("inspect", "", "import gc; freed = gc.collect()")
"""


def test_what_read_the_symbols_of_one_cell_is_not_freed_in_the_next(tmp_path) -> None:
    script = tmp_path / "two.ipy"
    script.write_text(TWO_CELLS)
    command = [sys.executable, "-P", "-m", "IPython", "--no-banner", "--colors=NoColor", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "asked for 54 MB in 6 blocks" in " ".join(done.stdout.split()), done.stdout
    assert "freed  born" in done.stdout and "elftools" not in done.stdout


def test_the_last_value_goes_to_out_which_is_told(shell, run) -> None:
    number = shell.execution_count
    run("%%inspect\nvalue = 6\nvalue * 7")
    assert shell.user_ns["Out"][number] == 42
    run("%%inspect\nvalue * 7;")
    assert number + 1 not in shell.user_ns["Out"]
    number = shell.execution_count
    assert changed(shell, run, "[0] * 1000") == {f"_{number}": "born"}


@pytest.mark.quick
def test_an_error_is_drawn_as_usual_and_the_changes_too(shell, run, capsys) -> None:
    with_magic, shown = run("%%inspect\nborn = 1\ndef f():\n    return born / 0\nf()")
    assert isinstance(with_magic.error_in_exec, ZeroDivisionError)
    text = re.sub(
        "\x1b\\[[0-9;]*m", "", shell.InteractiveTB.stb2text(with_magic.error_in_exec._render_traceback_())
    )
    assert "----> 4 f()" in text and "----> 3     return born / 0" in text
    assert "inspect_magic" not in text and "run_cell_magic" not in text
    assert "born" in shown[0]["text/plain"]
    for kind in ("frame", "traceback"):  # of the cell and of f: none of ours
        assert re.search(rf"{kind} +\+2", shown[0]["text/plain"])
    run("%%inspect\npass")
    rows = shell.last_execution_result.result.difference.types
    assert not [row for row in rows if row.type_name.startswith("inspector.")]


def test_names_that_hold_next_to_nothing_are_not_named(shell, run) -> None:
    run("%%inspect\nservice, number = bytearray(25_000_000), 10**20")
    said = shell.last_execution_result.result.answers.rows[0].text
    assert said == "`service` holds 25 MB more."


def test_a_syntax_error_is_an_error_of_the_cell(shell, run) -> None:
    shell.autoawait = False  # then await is the usual error
    for cell, words in (("x = = 1", "x = = 1"), ("await nothing()", "outside function")):
        result, _ = run(f"%%inspect\n{cell}")
        assert type(result.error_in_exec).__name__ == "CellSyntaxError"
        text = shell.InteractiveTB.stb2text(result.error_in_exec._render_traceback_())
        assert "SyntaxError" in text and words in text and "inspect_magic" not in text


def test_a_cell_may_await(shell, run) -> None:
    run("import asyncio\nasync def later(value):\n    await asyncio.sleep(0)\n    return [value]")
    number = shell.execution_count
    result, shown = run("%%inspect\nborn = await later(1)\nn = %inspect born\nawait later(6)")
    assert result.success and shell.user_ns["born"] == [1] and shell.user_ns["n"].name == "born"
    assert shell.user_ns["Out"][number] == [6]
    assert {row.name for row in result.result.difference.names} >= {"born", f"_{number}"}
    assert ["heap  " in bundle["text/plain"] for bundle in shown] == [True]


def test_an_awaiting_cell_shows_its_changes_and_its_error(shell, run) -> None:
    run("async def fails():\n    raise ZeroDivisionError")
    result, shown = run("%%inspect\nborn = [1]\nawait fails()")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "born" in shown[0]["text/plain"]
    drawn = shell.InteractiveTB.stb2text(result.error_in_exec._render_traceback_())
    assert "fails()" in drawn and "inspect_magic" not in drawn and "run_async" not in drawn


def test_await_in_a_string_or_a_function_is_no_await(run) -> None:
    result, _ = run("%%inspect\ntext = 'await'\nasync def f():\n    await f()")
    assert result.success and "text" in {row.name for row in result.result.difference.names}


def test_what_holds_new_objects_that_no_name_holds_is_told(run, shown) -> None:
    run("class Client:\n    cache = {}")
    said = " ".join(shown("%%inspect\nfor n in range(9000): Client.cache[n] = [str(n) * 3000]").split())
    run("del Client")
    assert re.search(
        r"that no name holds: .+; [5-8] of 8 new objects looked at are held by Client.cache", said
    )


def test_what_an_error_keeps_is_told_by_its_variable(shown) -> None:
    said = shown("%%inspect\ndef fails():\n    held = bytearray(3_000_000)\n    raise ValueError\nfails()")
    first = " ".join(said.split()).partition(" heap ")[0]
    assert (
        first
        == "The error's traceback keeps 3.0 MB, most of it held, a local of fails, until the next error."
    )


@pytest.mark.libraries
def test_a_column_of_a_frame_that_was_there_shows_its_bytes(shown, run) -> None:
    run("import pandas as pd\nframe = pd.DataFrame({'a': [1.0] * 9_000, 'b': [2.0] * 9_000})")
    run("texts = pd.DataFrame({'a': range(50_000), 't': [f'{n}' for n in range(50_000)]})")
    for name in ("frame", "texts"):
        said = shown(f"%%inspect\ncolumn = {name}['a']")
        assert said.split("\n")[0].strip() == f"column shows bytes of {name}, which were there before."
        run("del column")
    run("del frame, texts, pd")
