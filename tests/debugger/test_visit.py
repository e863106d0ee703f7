"""A trace inside another live Python: begun at a safe point, brought back, nothing left; else a sentence."""

# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import hosts
import pytest
from debugged import Program, target, until

from inspector.debugger.memory import proc
from inspector.errors import TargetGone
from inspector.faces.cli import main
from inspector.facts.growth import Growth
from inspector.facts.remote import Samples
from inspector.facts.unknown import Unknown
from inspector.sessions import running
from inspector.sessions.growth.attached import growth_of
from inspector.sessions.trace import Traced

pytestmark = [
    pytest.mark.debugger,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="not on CPython for another processor"),
]
PATIENT = 60.0
"""Seconds for a safe point: the machine may be busy. Where none is to come, the test gives less."""
FIRST = "import array, builtins\nx = array.array('d', [1.0, 2.0])\nbefore = set(sys.modules)\n"
ASLEEP = FIRST + (
    "mine = sorted(globals())\n"
    "say(ready=1)\nsys.stdin.readline()\n"
    "names = sorted(set(globals()) - set(mine) - {'mine'})\n"
    "say(names=names, modules=[n for n in sys.modules if n[:9] == 'inspector'])\n"
    "sys.stdin.readline()"
)
BUSY = FIRST + "say(ready=1)\nwhile True:\n    x.tobytes()"
JOINING = FIRST + (
    "def work():\n    while True: x.tobytes()\n"
    "worker = threading.Thread(target=work, daemon=True)\nworker.start()\nsay(ready=1)\nworker.join()"
)


def calls(found: Traced | Samples) -> dict[str, int]:
    """Name -> count of a trace's calls."""
    assert isinstance(found, Traced), found.instead
    return {call.name: call.times for call in found.calls}


@pytest.mark.core
def test_one_that_waits_is_traced_and_has_nothing_more_than_before() -> None:
    with target(ASLEEP) as (program, other):
        until(lambda: proc.thread_states(program.pid) == {"S"})
        for _ in range(2):
            assert calls(other.trace(0.05, "array", deadline_s=PATIENT)) == {}
        assert other.notes == ()
        program.assert_whole()
        program.go_on()
        assert program.said() == {"names": [], "modules": []}


@pytest.mark.core
@pytest.mark.parametrize("script", [BUSY, JOINING], ids=["first thread", "another thread"])
def test_one_that_runs_python_is_traced_while_it_runs(script: str) -> None:
    with target(script) as (program, other):
        # a machine with more to do may not let it run at all in so short a time
        traced = (calls(other.trace(seconds, "array", deadline_s=PATIENT)) for seconds in (0.1, 3.0))
        assert any(found.get("array.array.tobytes", 0) > 100 for found in traced)
        assert other.notes == () and proc.alive(program.pid)


def test_debians_static_python_is_traced() -> None:
    python = Path("/usr/bin/python3").resolve()
    if not python.exists() or python.name != f"python3.{sys.version_info[1]}":
        pytest.skip("not on CPython of a distribution")
    with target(BUSY, str(python)) as (_, other):
        assert calls(other.trace(0.1, "array", deadline_s=PATIENT))["array.array.tobytes"] > 100


def test_a_python_of_another_version_is_sampled_and_the_command_is_told() -> None:
    others = [path for path in hosts.others()[1:] if f"python3.{sys.version_info[1]}" not in path]
    if not others:
        pytest.skip("not on CPython alone: there is no other version here")
    with target(BUSY, others[0]) as (_, other):
        found = other.trace(0.1, deadline_s=PATIENT)
        assert isinstance(found, Samples) and found.stacks
        assert "there is no build of inspector" in found.instead
        assert found.instead.endswith("-m pip install native-inspector")


@pytest.mark.core
def test_a_python_3_12_that_has_its_build_is_traced_from_3_13() -> None:
    room = Path(sys.prefix).parent / ".venv-3.12" / "bin" / "python"
    if sys.version_info[:2] != (3, 13) or not room.exists():
        pytest.skip("not on CPython 3.13 with the room of 3.12 beside")
    with target(BUSY, str(room)) as (_, other):
        assert other.python == "3.12"
        assert calls(other.trace(0.1, "array", deadline_s=PATIENT))["array.array.tobytes"] > 100


GROWS = (
    "import time\nkept = []\nsay(ready=1)\n"
    "while True:\n    kept.append(bytearray(b'x') * 1_000_000)\n    time.sleep(0.01)"
)


@pytest.mark.core
def test_the_lines_that_ask_for_memory_are_told_from_inside() -> None:
    with target(GROWS) as (program, other):
        found = other.growth(1.5, deadline_s=PATIENT)
        assert isinstance(found, Growth) and proc.alive(program.pid) and other.notes == ()
        most = found.sources[0]
        assert most.bytes == pytest.approx(found.resident_bytes, rel=0.35) and most.bytes > 3_000_000
        assert not isinstance(most.site.line, Unknown) and most.path == ()
        assert found.rows[0].kind in ("objects", "buffers") and found.watched_ns >= 1_500_000_000
        first = growth_of(program.pid, 1.0, lines=True).answers.rows[0].text
        assert "asked for" in first and "still in use" in first
        unseen = growth_of(program.pid, 0.3).answers.rows[1]
        assert unseen.do == f"inspector attach {program.pid} memory --seconds 0.3 --lines"


@hosts.shared_library
def test_why_no_line_is_known_is_told() -> None:
    program = hosts.host(hosts.EMBEDS, *hosts.linked())
    with hosts.hosting(str(program), "holds", sys.base_prefix) as pid:
        found = running.attach(pid).growth(0.05, deadline_s=0.2)
        assert isinstance(found, Unknown) and "holds the GIL in main (host)" in found.reason


@hosts.shared_library
def test_a_host_asleep_in_c_is_traced_twice() -> None:
    """It gave the GIL away; the second time its sleep is one that was interrupted before."""
    with hosts.hosting(str(hosts.host(hosts.EMBEDS, *hosts.linked())), "asleep", sys.base_prefix) as pid:
        until(lambda: proc.thread_states(pid) == {"S"})
        for _ in range(2):
            assert calls(running.attach(pid).trace(0.05, deadline_s=PATIENT)) == {}


@hosts.shared_library
def test_a_host_that_opened_python_for_itself_is_traced_while_it_sleeps_with_the_gil() -> None:
    with hosts.hosting(str(hosts.host(hosts.OPENS, "-ldl")), "asleep", "", hosts.shared()) as pid:
        until(lambda: proc.thread_states(pid) == {"S"})
        assert calls(running.attach(pid).trace(0.05, deadline_s=PATIENT)) == {}


@hosts.shared_library
@pytest.mark.parametrize(
    ("state", "why"),
    [("holds", "holds the GIL in main (host)"), ("without", "no thread waits at a system call")],
)
def test_a_host_without_a_safe_point_says_where_it_is_and_is_read_from_outside(state: str, why: str) -> None:
    program = hosts.host(hosts.EMBEDS, *hosts.linked())
    with hosts.hosting(str(program), state, sys.base_prefix) as pid:
        found = running.attach(pid).trace(0.05, deadline_s=0.2)
        assert isinstance(found, Samples)
        assert why in found.instead and f"thread {pid} (host)" in found.instead


def test_signals_that_come_meanwhile_arrive() -> None:
    script = (
        "import signal, time\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n"
        "say(ready=1)\nsys.stdin.readline()\nsay(seen=bool(seen))\nsys.stdin.readline()"
    )
    with target(script) as (program, other):
        burst = f"import os, time\nwhile True: os.kill({program.pid}, {signal.SIGUSR1:d}), time.sleep(.01)"
        with subprocess.Popen([sys.executable, "-c", burst]) as sender:
            found = other.trace(0.05, deadline_s=PATIENT)
            sender.kill()
        assert isinstance(found, Traced)
        program.go_on()
        assert program.said() == {"seen": True}


def test_one_that_dies_meanwhile_gives_what_it_recorded() -> None:
    with Program(BUSY) as program:
        program.said()
        other = running.attach(program.pid)
        end = f"import os, time\ntime.sleep(4)\nos.kill({program.pid}, 9)"
        begin = time.monotonic()
        with subprocess.Popen([sys.executable, "-c", end]):
            try:
                found = other.trace(600, "array", deadline_s=PATIENT)
            except TargetGone:  # a slow machine: it died before anything was begun
                return
        assert time.monotonic() - begin < 300
        assert isinstance(found, Samples) or other.notes == ("the process ended meanwhile",)


SERVICE = """
import time
import numpy as np
while True:
    whole = np.linspace(0, 1, 100_000)
    half = whole.astype("f4")
    time.sleep(0.01)
"""


def test_its_report_is_of_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a line copied, and of what it is not known: its values are not compared from outside."""
    (script := tmp_path / "service.py").write_text(SERVICE)
    with subprocess.Popen([sys.executable, "-P", script]) as service:
        until(lambda: "_multiarray_umath" in Path(f"/proc/{service.pid}/maps").read_text())
        time.sleep(0.5)
        words = ("trace", "--seconds", "1", "--deadline", str(PATIENT))
        assert main(["attach", str(service.pid), *words]) == 0
        service.kill()
    first, *rows = capsys.readouterr().out.splitlines()
    assert "copied by one line. Whether" in first
    assert any('half = whole.astype("f4")' in row and "copied" in row for row in rows)
    assert any("whole = np.linspace(" in row and "unknown" in row for row in rows)
