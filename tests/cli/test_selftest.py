"""`inspector doctor --selftest`: every mechanism agrees with its second method here, and a lie is found."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import programs
import pytest

from inspector.faces import selftest
from inspector.facts.machine import Machine

pytestmark = pytest.mark.core


def test_every_mechanism_agrees_with_its_second_method() -> None:
    found = selftest.selftest()
    assert [check.part for check in found.checks] == list(selftest.CHECKS)
    wrong = [check for check in found.checks if check.state == "no"]
    assert not wrong, wrong
    tried = {check.part for check in found.checks if check.state == "ok"}
    assert tried >= set(selftest.CHECKS) - {"attach", "gdb", "leaks", "watchpoint"}


@pytest.mark.parametrize("check", ["refcount", "residency", "trace", "pages"])
def test_a_mechanism_that_lies_is_found(check: str, tmp_path: Path) -> None:
    """The verbs are replaced before the check runs: each answers what an idle one would."""
    lies = (
        "import inspector\n"
        "class Idle:\n"
        "    copies, resident_bytes = (), 0\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *_): pass\n"
        "    def __iter__(self): return iter(())\n"
        "idle = lambda *_, **more: Idle()\n"
        "inspector.refcount = lambda x: 1\n"
        "inspector.materialization = inspector.trace = inspector.writes = idle\n"
        "from inspector.faces.selftest.__main__ import main\n"
        f"raise SystemExit(main({check!r}))\n"
    )
    (tmp_path / "lies.py").write_text(lies)
    ran = programs.plain(programs.sys.executable, "-P", str(tmp_path / "lies.py"))
    assert ran.returncode == selftest.WRONG and ran.stdout.startswith("differs: "), (ran.stdout, ran.stderr)


def test_a_check_that_crashes_or_cannot_be_tried_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "python"
    for body, state, says in (
        ("kill -SEGV $$", "no", "died by SIGSEGV"),
        ("echo no compiler; exit 3", "part", "not tried: no compiler"),
        ("echo; exec sleep 60", "no", "did not end within 1 s"),
    ):
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
        monkeypatch.setattr(selftest.sys, "executable", str(script))
        monkeypatch.setattr(selftest, "DEADLINE_S", 1.0)
        (check,) = selftest.selftest(only=("refcount",)).checks
        assert (check.state, check.says) == (state, says)
        first = str(selftest.report(Machine((check,)))).splitlines()[0]
        how = "these differ" if state == "no" else "not tried"
        assert first.strip() == f"0 of 1 mechanism agree with a second method; {how}: refcount."
