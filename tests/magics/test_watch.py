"""`%inspect_watch`: names after every cell, what changed with what it was, and nothing disturbed."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import pytest
from inspector.magics.inspect_watch_magic import EVENT

pytestmark = pytest.mark.quick


def shown(run, cell: str) -> str:
    _, displayed = run(cell)
    return "\n".join(bundle["text/plain"] for bundle in displayed)


def test_what_a_cell_changes_is_said(run, shell) -> None:
    # always mapped anew: what malloc keeps, and calloc then has to clear, ends at 32 MB
    run("import numpy as np; z = np.zeros(64 << 20, 'u1'); kept = [z]")
    text = shown(run, "%inspect_watch z later")
    assert "reserved-not-resident" in text and "not bound" in text
    text = shown(run, "z[:] = 1; later = z[5:]")
    assert "owned" in text
    assert "reserved-not-res" in text
    assert "not bound" in text
    assert "was" in shown(run, "pass") and "reserved" not in shown(run, "pass")
    assert "not bound" in shown(run, "del later")


def test_a_watched_lazy_vector_stays_lazy(run, shell) -> None:
    run("import numpy as np; from inspector import lazy; v = lazy.abs(np.arange(9.0))")
    assert " lazy" in shown(run, "%inspect_watch v")
    assert " lazy" in shown(run, "pass")
    assert shell.user_ns["v"].state == "lazy"
    text = shown(run, "b = np.sort(v)")
    assert "owned" in text and "lazy" in text


def test_it_can_be_switched_off_and_leaves_with_the_extension(run, shell) -> None:
    before = len(shell.events.callbacks[EVENT])
    run("x = [1]")
    run("%inspect_watch x")
    assert len(shell.events.callbacks[EVENT]) == before + 1
    assert "no name is watched" in shown(run, "%inspect_watch --off")
    assert len(shell.events.callbacks[EVENT]) == before
    assert shown(run, "pass") == ""
    run("%inspect_watch x")
    run("%inspect_watch x")
    assert len(shell.events.callbacks[EVENT]) == before + 1
    shell.run_line_magic("unload_ext", "inspector")
    assert len(shell.events.callbacks[EVENT]) == before
    shell.run_line_magic("load_ext", "inspector")


def test_an_expression_is_refused(run) -> None:
    text = shown(run, "%inspect_watch x[0]")
    assert "is not a name" in text and "docs/messages.md#not-a-name" in text


def test_a_cell_that_fails_is_watched_too(run, shell) -> None:
    run("x = [1]")
    run("%inspect_watch x")
    assert "x" in shown(run, "x.append(2); 1 / 0")
    run("%inspect_watch --off")
