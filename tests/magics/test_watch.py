"""`%inspect_watch`: names after every cell, what changed with what it was, and nothing disturbed."""

# SPDX-License-Identifier: MIT
import re

import pytest
from inspector.magics.inspect_watch_magic import BEFORE, EVENT

from inspector import _native

pytestmark = pytest.mark.quick


def test_what_a_cell_changes_is_said(run, shown, shell) -> None:
    # always mapped anew: what malloc keeps, and calloc then has to clear, ends at 32 MB
    run("import numpy as np; z = np.zeros(64 << 20, 'u1'); kept = [z]")
    text = shown("%inspect_watch z later")
    assert "reserved-not-resident" in text and "not bound" in text
    text = shown("z[:] = 1; later = z[5:]")
    assert "owned" in text and "reserved-not-res" in text and "not bound" in text
    assert "was" in shown("pass") and "reserved" not in shown("pass")
    assert "not bound" in shown("del later")


def test_a_watched_lazy_vector_stays_lazy(run, shown, shell) -> None:
    run("import numpy as np; from inspector import lazy; v = lazy.abs(np.arange(9.0))")
    assert " lazy" in shown("%inspect_watch v")
    assert " lazy" in shown("pass")
    assert shell.user_ns["v"].state == "lazy"
    text = shown("b = np.sort(v)")
    assert "owned" in text and "lazy" in text


def test_it_can_be_switched_off_and_leaves_with_the_extension(run, shown, shell) -> None:
    before = len(shell.events.callbacks[EVENT])
    run("x = [1]")
    run("%inspect_watch x")
    assert len(shell.events.callbacks[EVENT]) == before + 1
    assert "no name is watched" in shown("%inspect_watch --off")
    assert len(shell.events.callbacks[EVENT]) == before
    assert shown("pass") == ""
    run("%inspect_watch x")
    run("%inspect_watch x")
    assert len(shell.events.callbacks[EVENT]) == before + 1
    shell.run_line_magic("unload_ext", "inspector")
    assert len(shell.events.callbacks[EVENT]) == before
    shell.run_line_magic("load_ext", "inspector")


def test_a_cell_that_fails_is_watched(run, shown) -> None:
    run("x = [1]\n%inspect_watch x")
    assert "x" in shown("x.append(2); 1 / 0")
    run("%inspect_watch --off")


def test_what_each_cell_adds_is_told_with_its_line(run, shown, shell) -> None:
    before = [len(shell.events.callbacks[event]) for event in (BEFORE, EVENT)]
    run("%inspect_watch --memory")
    assert shown("kept = []; small = 1") == ""
    cell = "kept.append('x%d' % len(kept) * 20_000_000)"  # always mapped anew, as above
    said = " ".join(shown(cell).split())
    assert "kept.append" not in said and "len(kept) * 20_000_000 in line 1 asked for " in said
    assert re.search(r" added (39|4\d) MB", said) and "Python objects" in said
    again = " ".join(shown(cell).split())
    assert re.search(r"; its runs before added (39|4\d) MB", again) and "cells" in again
    assert "resident" in shown("%inspect_watch") and "no row" not in shown("%inspect_watch")
    shown("%inspect_watch --off\ndel kept")
    assert [len(shell.events.callbacks[event]) for event in (BEFORE, EVENT)] == before
    assert [slot for slot in _native.got_slots() if slot[3] == -8 and slot[6]] == []
