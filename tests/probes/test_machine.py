"""The doctor tries each ability and leaves nothing behind."""

# SPDX-License-Identifier: MIT
import errno
import os
import re
import sys
from pathlib import Path

import programs
import pytest

from inspector.facts.machine import Check
from inspector.facts.unknown import Unknown
from inspector.objects.probes import machine
from inspector.views.view import view

pytestmark = [pytest.mark.core, pytest.mark.quick]
PARTS = ("extension", "attach", "writes", "residency", "symbols", "libraries")


def test_every_part_is_checked_in_order() -> None:
    assert tuple(check.part for check in machine.checks()) == PARTS


def test_the_extension_is_the_one_of_this_python() -> None:
    check = machine.extension()
    assert (check.state, check.do) == ("ok", "")
    assert f"CPython {sys.version.split()[0]}" in check.says


def test_attach_is_tried_on_this_process_and_let_go() -> None:
    check = machine.attach()
    assert check.state == "ok" or check.do
    assert "TracerPid:\t0\n" in Path("/proc/self/status").read_text()


def test_a_refused_ptrace_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_seize_parent", lambda: errno.EPERM)
    check = machine.attach()
    assert (check.state, check.says) == ("no", "ptrace refused: Operation not permitted")
    assert check.do


def test_watchpoints_are_closed_again() -> None:
    before = set(os.listdir("/proc/self/fd"))
    check = machine.writes()
    assert set(os.listdir("/proc/self/fd")) == before
    assert check.state == "no" or re.match(r"[1-8] hardware watchpoints", check.says)


def test_residency_works_wherever_proc_is_mounted() -> None:
    assert machine.residency().state == "ok"


def test_the_libraries_are_not_imported() -> None:
    script = "import sys; from inspector.objects.probes import machine; machine.libraries()"
    assert programs.python(script + "; print('numpy' in sys.modules)") == "False\n"


def test_an_unreadable_table_is_no_symbols() -> None:
    assert machine._grade("/no/such/library.so") == "none"


@pytest.mark.parametrize("state", ["ok", "part", "no"])
def test_the_view_says_the_state_in_words_and_how_to_mend(state: str) -> None:
    from inspector.facts.machine import Machine

    drawn = repr(view(Machine((Check("gdb", state, "13.1", "install it"),))))  # type: ignore[arg-type]
    assert f"{state:<5}" in drawn
    assert "do  install it" in drawn


def test_an_unforkable_process_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector.objects import isolation

    monkeypatch.setattr(isolation, "run", lambda *a: Unknown("not forked: 1 other thread running"))
    assert machine.attach().state == "part"
