"""Places that are hit without end, needed by ourselves, unloaded, in threads that end; a session cut off."""

# SPDX-License-Identifier: MIT
import os
import signal
from typing import Any

import psutil
import pytest
from debugged import HEARING, ORPHANS_S, SOAK, Program, breaking, ends, until

from inspector.debugger.memory import proc

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(300)]
ROUNDS = int(os.environ.get("INSPECTOR_ROUNDS") or (100 if SOAK else 2))
CALLS = 1_000_000 if SOAK else 2_000
BY_GDB, RECORDED = CALLS // 20, CALLS // 50
"""Of these each is a stop: some 0.3 ms, alone on the machine."""

COUNTED = breaking(f"""
with Breakpoints("storm_probe", budget=5) as found:
    total = sum(probing.probe(i) for i in range({CALLS}))
(place,) = found.facts.places
say(right=total == sum(3 * i + 1 for i in range({CALLS})), hits=len(found.hits), counted=place.hits,
    dropped=found.facts.dropped, says=place.says)
with Breakpoints("storm_probe", record="count") as found:
    total = sum(probing.probe(i) for i in range({CALLS}))
(place,) = found.facts.places
say(right=total == sum(3 * i + 1 for i in range({CALLS})), counted=place.hits)
with Breakpoints("storm_probe", record="stacks", budget={RECORDED}, fast=True) as found:
    for i in range({BY_GDB}):
        probing.probe(i)
(place,) = found.facts.places
say(counted=place.hits, dropped=found.facts.dropped, recorded=[hit.number for hit in found.hits],
    whole=all(hit.stack.frames[0].function == "storm_probe" for hit in found.hits))
with Breakpoints("storm_probe", record="count", fast=True) as found:
    for i in range({BY_GDB}):
        probing.probe(i)
say(counted=found.facts.places[0].hits, failed=found.facts.places[0].says)
""")


def test_a_million_calls_add_up() -> None:
    """Recorded and dropped are what was counted; beyond the budget the place is off and says so."""
    with Program(COUNTED) as program:
        said = program.said()
        assert (said["right"], said["hits"]) == (True, 5)
        assert said["counted"] == said["hits"] + said["dropped"]
        assert said["says"].startswith("budget of 5 hits reached")
        assert program.said() == {"right": True, "counted": CALLS}
        spooled = program.said()
        assert spooled["recorded"] == [*range(1, RECORDED + 1)] and spooled["whole"]
        assert RECORDED < spooled["counted"] <= BY_GDB
        assert spooled["dropped"] == spooled["counted"] - RECORDED
        assert program.said() == {"counted": BY_GDB, "failed": ""}
        program.assert_whole()


NEEDED = breaking("""
places = ["recv", "malloc if $rdi == 12345", "PyEval_RestoreThread", "storm_probe"]
with Breakpoints(*places, budget=50) as found:
    state = found.state
    probing.probe(3)
say(state=state, hits={place.place: place.hits for place in found.facts.places}, ended=found.facts.ended)
with Breakpoints("storm_probe", all_threads=True) as found:
    for n in range(30):
        threads = [threading.Thread(target=probing.probe, args=(i,)) for i in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
say(hits=len(found.hits), threads=len({hit.stack.thread_id for hit in found.hits}))
""")


@pytest.fixture(scope="module")
def needed() -> list[dict[str, Any]]:
    """What NEEDED says; its process is whole afterwards."""
    with Program(NEEDED) as program:
        rows = [program.said(), program.said()]
        program.assert_whole()
    return rows


def test_a_place_that_the_session_itself_needs(needed: list[dict[str, Any]]) -> None:
    """recv(2), malloc and the GIL serve the session's own talk, in the very process that is stopped."""
    said = needed[0]
    assert (said["state"], said["hits"]["storm_probe"], said["ended"]) == ("running", 1, "")


def test_threads_that_end_at_once_are_all_heard(needed: list[dict[str, Any]]) -> None:
    assert needed[1]["hits"] == 90 and needed[1]["threads"] > 3


UNLOADED = """
import _ctypes, ctypes
from inspector.debugger.session import Breakpoints
with Breakpoints("storm_probe", record="count") as found:
    for n in range(3):
        library = ctypes.CDLL(PATH)
        assert library.storm_probe(n) == 3 * n + 1
        _ctypes.dlclose(library._handle)
    loaded = PATH in open("/proc/self/maps").read()
say(hits=found.facts.places[0].hits, loaded=loaded)
sys.stdin.readline()
"""


def test_a_library_that_is_unloaded_and_comes_again() -> None:
    with Program(UNLOADED) as program:
        assert program.said() == {"hits": 3, "loaded": False}
        program.assert_whole()


CUT_OFF = breaking("""
session = Breakpoints("storm_probe", budget=10**6)
with session:
    say(**session._client.call("state"))
    for i in range(20):
        probing.probe(i)
    session._client.lines.close()
    total = sum(probing.probe(i) for i in range(300))
say(right=total == sum(3 * i + 1 for i in range(300)), kept=len(session.hits) >= 20)
""")


def test_a_socket_that_is_closed_ends_the_session_and_nothing_else() -> None:
    with Program(CUT_OFF) as program:
        begun = program.said()
        assert program.said() == {"right": True, "kept": True}
        until(ends(begun["pid"]), ORPHANS_S)
        until(ends(begun["broker"]), ORPHANS_S)
        program.assert_whole()


STOPPED = f"""{HEARING}
import time
from inspector.debugger.forked import Forked
probing = load(PATH)
child = Forked(lambda: print(probing.probe(7)), ["storm_probe"])
stop = child.wait(120).stop
try:
    say(child=child.pid, place=stop.function, **child._client.call("state"))
    while True: time.sleep(0.05)
except KeyboardInterrupt:
    say(answer=child.command("continue").exit_code)
sys.stdin.readline()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_kernel_that_is_killed_or_restarted_while_its_child_is_stopped(how: signal.Signals) -> None:
    with Program(STOPPED) as program:
        said = program.said()
        assert (said["place"], said["state"]) == ("storm_probe", "stopped")
        os.kill(program.pid, how)
        for pid in (said["child"], said["pid"], said["broker"]):
            until(ends(pid), ORPHANS_S)


def test_a_kernel_that_is_interrupted_while_its_child_is_stopped() -> None:
    """The interrupt is the kernel's: the child stays stopped, and goes on when it is told to."""
    with Program(STOPPED) as program:
        said = program.said()
        os.kill(program.pid, signal.SIGINT)
        assert program.said() == {"answer": 0}
        until(ends(said["child"]), ORPHANS_S)
        program.assert_whole()


LOST = """
import time
from inspector.debugger.forked import Forked
from inspector.errors import InspectorError
probing = load(PATH)
child = Forked(lambda: print(probing.probe(7)), ["storm_probe"])
assert child.wait(120).stop.function == "storm_probe"
say(child=child.pid)
sys.stdin.readline()
begin = time.monotonic()
try:
    child.command("stack")
except InspectorError as error:
    say(slug=error.slug, seconds=time.monotonic() - begin)
sys.stdin.readline()
"""
ANSWERS_S = 5.0


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("part", ["gdb", "broker"])
def test_a_stopped_part_lets_the_child_go_and_the_next_word_says_so(part: str, round_: int) -> None:
    with Program(LOST) as program:
        child = program.said()["child"]
        gdb = proc.tracer(child)
        hit = gdb if part == "gdb" else psutil.Process(gdb).ppid()
        os.kill(hit, signal.SIGSTOP)
        if round_ % 2 == 0:  # the user does not ask
            until(lambda: not proc.tracer(child), ANSWERS_S)
        program.go_on()
        said = program.said()
        assert said["slug"] == "gdb-ended" and said["seconds"] < ANSWERS_S
        until(lambda: not proc.tracer(child), ANSWERS_S)
        until(ends(gdb), ORPHANS_S)
        until(ends(hit), ORPHANS_S)
