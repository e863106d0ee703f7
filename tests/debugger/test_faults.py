"""Whatever happens to gdb or to the broker: the program runs on, untraced, its code as its files have it."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from debugged import HEARING, ORPHANS_S, SOAK, Program, breaking, ends, until

from inspector.debugger import healing
from inspector.debugger.child import SILENT_S, TERM_S, Gdb
from inspector.debugger.memory import proc

pytestmark = [pytest.mark.core, pytest.mark.debugger, pytest.mark.timeout(300)]
ROUNDS = 100 if SOAK else 10

STORM = breaking("""
stopping = threading.Event()
def busy():
    i = 0
    while not stopping.wait(0.001):
        i += 1
        assert probing.probe(i) == 3 * i + 1
for _ in range(3):
    threading.Thread(target=busy, daemon=True).start()
session = Breakpoints("storm_probe", budget=10**6, all_threads=True)
with session:
    say(folder=session._client.folder, **session._client.call("state"))
    total = sum(probing.probe(i) for i in range(int(os.environ["CALLS"])))
stopping.set()
say(right=total == sum(3 * i + 1 for i in range(int(os.environ["CALLS"]))),
    ended=session.facts.ended, hits=len(session.hits), counted=sum(p.hits for p in session.facts.places))
""")


def recorded(folder: str) -> int:
    spool = Path(folder) / "hits.jsonl"
    return spool.read_bytes().count(b'"n":') if spool.exists() else 0


@contextlib.contextmanager
def storm(calls: int, hits: int = 5, script: str = STORM) -> Iterator[tuple[Program, dict[str, Any]]]:
    """A program in a storm, once so many hits are recorded, and what it said of its session."""
    with Program(script, CALLS=str(calls)) as program:
        begun = program.said()
        until(lambda: recorded(begun["folder"]) >= hits)
        yield program, begun


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_gdb_killed_in_a_storm_of_hits(round_: int) -> None:
    """SIGKILL at a random hit, three threads beside it: the right sum, no byte changed, nobody stopped."""
    number = random.Random(round_).randrange(1, 60)
    with storm(400, number) as (program, begun):
        os.kill(begun["pid"], signal.SIGKILL)
        said = program.said()
        until(lambda: not proc.thread_states(program.pid) & {"T", "t"})
        program.assert_whole()
        assert said["right"]
        assert said["hits"] >= number  # what had been collected is kept
        assert "gdb ended by signal 9" in said["ended"]
        until(ends(begun["broker"]), ORPHANS_S)


def test_a_gdb_that_is_stopped_is_ended_at_once() -> None:
    with storm(200) as (program, begun):
        begin = time.monotonic()
        os.kill(begun["pid"], signal.SIGSTOP)
        said = program.said()  # the program stood still at a hit until gdb was ended
        assert said["right"] and "gdb was stopped by a signal" in said["ended"]
        assert time.monotonic() - begin < SILENT_S + TERM_S
        program.assert_whole()


def test_a_broker_that_is_stopped_leaves_the_program_running() -> None:
    with storm(200) as (program, begun):
        begin = time.monotonic()
        os.kill(begun["broker"], signal.SIGSTOP)
        said = program.said()
        assert said["right"] and "broker" in said["ended"]
        assert time.monotonic() - begin < 2 * SILENT_S
        until(ends(begun["pid"]), ORPHANS_S)
        until(ends(begun["broker"]), ORPHANS_S)
        program.assert_whole()


def test_a_gdb_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    gdb = Gdb("gdb", str(tmp_path))
    gdb.tick(0.0)
    assert gdb.asked_at is not None and not gdb.hung
    gdb.asked_at -= SILENT_S
    gdb.tick(0.0)
    assert "did not respond for 5 s" in gdb.hung
    until(ends(gdb.child.pid))
    gdb.reap()


def test_a_broker_that_is_killed_takes_gdb_along_and_nothing_else() -> None:
    with storm(200) as (program, begun):
        os.kill(begun["broker"], signal.SIGKILL)
        assert program.said()["right"]
        until(ends(begun["pid"]), ORPHANS_S)
        program.assert_whole()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_is_killed_leaves_no_orphan(how: signal.Signals) -> None:
    with storm(100_000) as (program, begun):
        os.kill(program.pid, how)
        program.child.wait(ORPHANS_S)
        until(ends(begun["pid"]), ORPHANS_S)
        until(ends(begun["broker"]), ORPHANS_S)
        assert not Path(begun["folder"]).exists()


INTERRUPTED = HEARING + STORM.replace("with session:", "try:\n  with session:", 1).replace(
    "stopping.set()", "except KeyboardInterrupt:\n    total = -1\nstopping.set()"
)


def test_an_interrupt_reaches_the_program_and_the_session_is_left() -> None:
    with storm(100_000, script=INTERRUPTED) as (program, begun):
        os.kill(program.pid, signal.SIGINT)
        said = program.said()
        assert said["hits"] == said["counted"] >= 5 and said["ended"] == ""
        program.assert_whole()
        until(ends(begun["pid"]), ORPHANS_S)


FORKING = breaking("""
with Breakpoints("storm_probe") as found:
    pid = os.fork()
    if pid == 0:
        os._exit(int(sum(probing.probe(i) for i in range(5)) != 35))
    code = os.waitpid(pid, 0)[1]
    probing.probe(1)
say(code=code, hits=len(found.hits))
""")


def test_a_forked_child_runs_on_without_breakpoints() -> None:
    with Program(FORKING) as program:
        assert program.said() == {"code": 0, "hits": 1}


def test_only_planted_bytes_are_put_back() -> None:
    """A byte of code that the program changed itself stays; an int3 that is not in the file goes."""
    with Program("say(address=0)\nsys.stdin.readline()") as program:
        program.said()
        mapping = next(
            code for code in proc.code(program.pid) if "probing" in code.path or "python" in code.path
        )
        with open(f"/proc/{program.pid}/mem", "r+b", buffering=0) as memory:
            before = os.pread(memory.fileno(), 2, mapping.start)
            os.pwrite(memory.fileno(), bytes([0xCC, before[1] ^ 1]), mapping.start)
        healed = healing.heal(program.pid)
        assert (healed.bytes_restored, healed.runs) == (1, True)
        left = healing.differences(program.pid)
        assert [(row.address, row.original) for row in left] == [(mapping.start + 1, before[1])]
        os.kill(program.pid, signal.SIGSTOP)
        until(lambda: "T" in proc.thread_states(program.pid))
        assert healing.heal(program.pid).woken
