"""What IPython keeps is named as the user knows it, and the count is the true one."""

# SPDX-License-Identifier: MIT
import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]


def owners(shell, text: str) -> dict[tuple[str, str, str], int]:
    """(kind, holder, key) -> references, after a search of memory."""
    report = shell.run_line_magic("inspect", f"{text} --owners")
    return {(one.kind, one.holder, one.key): one.references for one in report.refs.owners if one.certain}


def test_the_count_shown_is_the_true_one(shell) -> None:
    shell.run_cell("x = [1]; rows = [x, x]")
    shell.run_cell("r = %inspect x")
    assert shell.user_ns["r"].refs.references == 3
    shell.run_cell("%inspect x")
    assert shell.last_execution_result.result.refs.references == 3
    shell.run_cell("r = %inspect [1, 2]")
    assert shell.user_ns["r"].refs.references == 0, "the expression's own is not counted"


def test_locals_of_a_function_are_found_and_not_kept(shell) -> None:
    shell.run_cell("def f():\n    mine = [1]\n    r = %inspect mine\n    s = %inspect mine\n    return r, s")
    shell.run_cell("reports = f()")
    assert [report.refs.references for report in shell.user_ns["reports"]] == [1, 1]


def test_what_out_keeps_is_history(shell) -> None:
    number = shell.execution_count
    shell.run_cell("[1, 2]", store_history=True)
    found = owners(shell, "_")
    kinds = {(holder, key) for kind, holder, key in found if kind == "history"}
    assert ("Out", f"[{number}]") in kinds
    assert {("IPython", "_"), ("IPython", f"_{number}"), ("DisplayHook", "_")} <= kinds
    report = shell.run_line_magic("inspect", "_ --owners")
    assert report.refs.references == report.refs.owners.named  # each is named, IPython's last result too
