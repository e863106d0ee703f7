"""`%inspect_crash`: refusals as one quiet block; what it draws is test_crash.py's of the debugger."""

from __future__ import annotations


def shown(run, cell: str) -> str:
    _, displayed = run(cell)
    return "\n".join(bundle["text/plain"] for bundle in displayed)


def test_without_a_crash_it_says_so(run, tmp_path) -> None:
    assert "which crash?" in shown(run, "%inspect_crash")
    assert "no trace was kept" in shown(run, f"%inspect_crash {tmp_path}")
    assert "No closing quotation" in shown(run, "%inspect_crash 'a")
