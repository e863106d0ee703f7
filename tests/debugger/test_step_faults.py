"""Another process, stopped by a person: whatever happens to gdb, to the client, to it, it goes on whole."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from debugged import HEARING, ORPHANS_S, SOAK, Program, ends, until
from refused import refused

from inspector.debugger.live import Live
from inspector.debugger.memory import proc
from inspector.errors import InspectorError
from inspector.sessions import running

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(300)]
ROUNDS = 100 if SOAK else 1
STOPS = 1000 if SOAK else 10
WAIT_S = 120.0

GUARDED = "from inspector.sessions import running\nrunning.guard(True)\n"
"""As `%load_ext inspector` does in a kernel."""
PASSING = """
probing = load(PATH)
stopping = threading.Event()
def beside():
    while not stopping.wait(0.001):
        probing.probe(7)
threading.Thread(target=beside, daemon=True).start()
say(ready=1)
sys.stdin.readline()
say(total=sum(probing.probe(i) for i in range(100)))
sys.stdin.readline()
"""
ONCE = """
probing = load(PATH)
say(ready=1)
sys.stdin.readline()
say(value=probing.probe(7))
sys.stdin.readline()
"""
TOTAL = {"total": sum(3 * i + 1 for i in range(100))}
VALUE = {"value": 22}


@contextlib.contextmanager
def stopped(script: str, place: str = "storm_probe", *flags: str) -> Iterator[tuple[Program, Live, Any]]:
    """A program told to go where it stops, and what the broker says of gdb and of itself.

    Afterwards nobody is there any more, and a program that lives is whole.
    """
    with Program(script, *flags) as program:
        program.said()
        with running.step(program.pid, place) as live:
            session = live._client.call("state")
            program.go_on()
            assert live.wait(WAIT_S).stop is not None
            yield program, live, session
        until(ends(session["pid"]), ORPHANS_S)
        until(ends(session["broker"]), ORPHANS_S)
        if proc.alive(program.pid):
            program.assert_whole()


def over(live: Live) -> InspectorError:
    """What a word to a session that has ended is answered."""
    with pytest.raises(InspectorError) as caught:
        live.command("continue")
    return caught.value


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_guarded_process_outlives_a_gdb_that_is_killed_at_a_stop(round_: int) -> None:
    with stopped(GUARDED + PASSING) as (program, live, session):
        assert live.guarded
        os.kill(session["pid"], signal.SIGKILL)
        assert program.said() == TOTAL
        until(lambda: live.state == "healed")
        error = over(live)
        assert error.slug == "gdb-ended" and "signal 9" in error.why
        program.assert_whole()


def test_a_gdb_that_hangs_at_a_stop_is_ended_by_the_watchdog() -> None:
    with stopped(GUARDED + PASSING) as (program, live, session):
        os.kill(session["pid"], signal.SIGSTOP)
        assert program.said() == TOTAL
        until(lambda: live.state in ("healed", "gone"))


def test_a_broker_that_is_killed_at_a_stop_takes_gdb_along() -> None:
    with stopped(PASSING) as (program, live, session):
        os.kill(session["broker"], signal.SIGKILL)
        assert program.said() == TOTAL
        assert over(live).slug == "gdb-ended"


def test_a_socket_that_is_closed_at_a_stop_lets_the_process_go() -> None:
    with stopped(PASSING) as (program, live, _):
        live._client.lines.close()
        assert program.said() == TOTAL


def test_a_terminal_that_is_killed_at_a_stop_lets_the_process_go() -> None:
    with Program(PASSING) as program:
        program.said()
        command = [str(Path(sys.executable).parent / "inspector"), "attach", str(program.pid), "step"]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen([*command, "--at", "storm_probe"], text=True, **pipes) as terminal:
            assert terminal.stdout is not None and terminal.stderr is not None
            assert "attached" in terminal.stderr.readline()
            assert "no breakpoint guard" in terminal.stderr.readline()
            program.go_on()
            while "stopped by you" not in terminal.stdout.readline():
                assert terminal.poll() is None
            gdb = proc.tracer(program.pid)
            assert gdb
            terminal.kill()
        assert program.said() == TOTAL
        until(ends(gdb), ORPHANS_S)
        program.assert_whole()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_at_a_stop_ends_the_session(how: signal.Signals) -> None:
    """SIGTERM waits, as any signal does, until the process goes on."""
    with stopped(ONCE) as (program, live, _):
        os.kill(program.pid, how)
        try:
            assert live.command("continue").exit_code is not None
        except InspectorError as error:  # gdb was looking at what is no more
            assert error.slug == "gdb-ended" and "has ended" in error.why
        assert program.child.wait(ORPHANS_S) == -how


INTERRUPTED = HEARING + ONCE.replace(
    "say(value=probing.probe(7))",
    """
try:
    probing.probe(7)
    threading.Event().wait(100)
except KeyboardInterrupt:
    say(interrupted=1)
""",
)


def test_an_interrupt_at_a_stop_arrives_when_the_process_goes_on() -> None:
    with stopped(INTERRUPTED) as (program, live, _):
        os.kill(program.pid, signal.SIGINT)
        assert live.state == "stopped"
        live.close()
        assert program.said() == {"interrupted": 1}


BETWEEN = f"""
import _ctypes, ctypes
say(ready=1)
sys.stdin.readline()
for n in range(2):
    library = ctypes.CDLL(PATH)
    assert library.storm_probe(n) == 3 * n + 1
    _ctypes.dlclose(library._handle)
unloaded = PATH not in open("/proc/self/maps").read()
probing = load(PATH)
probing.probe(2)
threads = [threading.Thread(target=lambda: None) for _ in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
probing.probe(3)
child = os.fork()
if child == 0:
    os._exit(int(sum(probing.probe(i) for i in range(5)) != 35))
code = os.waitpid(child, 0)[1]
total = sum(probing.probe(i) for i in range(4, {STOPS}))
say(unloaded=unloaded, code=code, total=total)
sys.stdin.readline()
"""


def test_each_call_is_one_stop_whatever_comes_between() -> None:
    """A library that is unloaded, threads that end, a fork, whose child runs on without breakpoints."""
    with stopped(BETWEEN) as (program, live, _):
        said = ["0", *(live.command("continue").stop.variables[0].value for _ in range(1, STOPS))]
        assert said == [str(n) for n in range(STOPS)]
        live.close()
        total = sum(3 * i + 1 for i in range(4, STOPS))
        assert program.said() == {"unloaded": True, "code": 0, "total": total}


def test_a_stop_in_a_function_that_the_session_itself_needs() -> None:
    """Every thread comes by it; the one that stands there is left like any other."""
    with stopped(PASSING, "PyEval_RestoreThread") as (program, live, _):
        assert live.state == "stopped"
        live.close()
        assert program.said() == TOTAL


def test_a_second_session_and_words_that_gdb_refuses_leave_the_stop_as_it_is() -> None:
    """The second is refused and names the first."""
    with stopped(ONCE) as (program, live, session):
        for begin in (lambda: running.step(program.pid, "probe"), lambda: running.stacks(program.pid)):
            with refused("already-traced") as caught:
                begin()
            assert str(session["pid"]) in str(caught.value)
        assert live.command("finish").stop.function == "probe"
        for word, argument in (("print", "*(("), ("print", "nothing_here"), ("watch", "3 = 4"), ("up", "99")):
            with contextlib.suppress(InspectorError):
                live.command(word, argument)
            assert live.state == "stopped"
        live.close()
        assert program.said() == VALUE


def test_without_debug_information_the_stop_has_its_stack() -> None:
    with stopped(ONCE, "storm_probe", "-g0", "-Wl,--strip-debug") as (_, live, _):
        stop = live.command("stack").stop
        assert stop.function == "storm_probe"
        functions = [frame.function for frame in stop.stack.frames if not frame.plumbing]
        assert functions[:3] == ["storm_probe", "probe", "<module>"]
        with refused("gdb-refused"):
            live.command("print", "n")


UNUSABLE = {
    "": "everything else works without",
    "echo 'Python scripting is not supported' >&2\nexec sleep 1000": "without Python",
    'exec {gdb} -iex "python import sys; sys.modules[\'inspector\'] = None" "$@"': (
        "our agent does not start in its Python: ModuleNotFoundError: "
    ),
}


@pytest.mark.parametrize("gdb", list(UNUSABLE))
def test_no_gdb_and_one_that_cannot_run_the_agent(
    gdb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path)
    if gdb:
        (tmp_path / "gdb").write_text(f"#!/bin/sh\n{gdb.format(gdb=shutil.which('gdb'))}\n")
        (tmp_path / "gdb").chmod(0o755)
        path += os.pathsep + os.environ["PATH"]
    with Program(ONCE) as program:
        program.said()
        monkeypatch.setenv("PATH", path)
        begin = time.monotonic()
        with refused("gdb-missing") as caught:
            running.step(program.pid, "storm_probe")
        assert time.monotonic() - begin < 10.0
        assert caught.value.exit_code == 2
        assert UNUSABLE[gdb] in caught.value.why
        program.go_on()
        assert program.said() == VALUE
        program.assert_whole()
