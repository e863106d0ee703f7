"""Breakpoints by the processor: counted and with both stacks, in this process, without gdb."""

# SPDX-License-Identifier: MIT
import threading
from typing import Any

import pytest
from debugged import Program, breaking, told
from fingerprints import fingerprint
from refused import refused

from inspector import _native
from inspector.debugger import hardware_breakpoints
from inspector.debugger.presets.places import asked
from inspector.sessions import running

pytestmark = [pytest.mark.core, pytest.mark.debugger, pytest.mark.quick]

BOTH = breaking("""
from inspector.facts.wire import to_wire
os.environ["PATH"] = "/nowhere"  # there is no gdb
def inner(n):
    return probing.probe(5)
def beside():
    for i in range(50):
        probing.probe(i)
with Breakpoints("storm_probe", "PyFloat_FromDouble", record="stacks", budget=6) as found:
    value = sorted([1], key=inner) and probing.mix(None)
    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    for i in range(9):
        probing.probe(i)
    state = found.state
say(facts=to_wire(found.facts), state=state, value=value)
with Breakpoints("storm_probe", record="count", all_threads=True) as found:
    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    total = sum(probing.probe(i) for i in range(1000))
say(count=found.facts.places[0].hits, hits=len(found.hits), total=total)
say(after=probing.probe(7))
""")


@pytest.fixture(scope="module")
def said() -> list[dict[str, Any]]:
    """What BOTH says; its process is whole while nobody has ever traced it."""
    with Program(BOTH) as program:
        rows = [program.said() for _ in range(3)]
        program.assert_whole()
    return rows


def test_hits_have_both_stacks_in_their_true_order(said: list[dict[str, Any]]) -> None:
    facts = said[0]["facts"]
    assert (facts["means"], facts["ended"]) == (hardware_breakpoints.MEANS, "")
    assert said[0]["state"] == "running"
    first = facts["hits"][0]
    frames = [(f["kind"], f["function"]) for f in first["stack"]["frames"] if not f["plumbing"]]
    assert frames[:3] == [("native", "storm_probe"), ("native", "probe"), ("python", "inner")]
    is_stripped = any(frame["function"].startswith("0x") for frame in first["stack"]["frames"])
    assert ("python", "<module>") in frames[3:] and (is_stripped or "sort" in frames[3][1])
    assert all(function != "0x0" for _, function in frames)


def test_recorded_and_dropped_are_what_was_counted(said: list[dict[str, Any]]) -> None:
    """Only the thread that entered; beyond the budget hits are counted."""
    facts = said[0]["facts"]
    counts = {place["place"]: place["hits"] for place in facts["places"]}
    assert counts == {"storm_probe": 10, "PyFloat_FromDouble": 1}
    assert len(facts["hits"]) == 6 and facts["dropped"] == 5


def test_all_threads_are_counted_those_that_begin_later_too(said: list[dict[str, Any]]) -> None:
    assert said[1] == {"count": 1050, "hits": 0, "total": sum(3 * i + 1 for i in range(1000))}
    assert said[2] == {"after": 22}


def test_here_nothing_is_disturbed_and_the_signal_goes_back() -> None:
    import signal

    before, x = signal.getsignal(signal.SIGTRAP), 1.5
    was = fingerprint(x)
    with running.breakpoints("PyFloat_FromString", record="count") as found:
        for _ in range(20):
            float("1.5")
    assert found.facts.means == hardware_breakpoints.MEANS and found.facts.places[0].hits == 20
    assert fingerprint(x) == was and signal.getsignal(signal.SIGTRAP) == before


def test_one_session_at_a_time_and_no_place_is_added() -> None:
    with running.breakpoints("PyFloat_FromString", record="count") as found:
        for words in ({"record": "count"}, {}):
            with refused("session-running"):
                running.breakpoints("PyFloat_FromString", **words).__enter__()
        with refused("bad-place"):
            found.add("PyFloat_FromDouble")
        with pytest.raises(RuntimeError):
            _native.hardware_breakpoints_arm([1], [threading.get_native_id()], 0, 1)
    with pytest.raises(ValueError, match="four"):
        _native.hardware_breakpoints_arm([1, 2, 3, 4, 5], [threading.get_native_id()], 0, 1)


FALLS_BACK = breaking("""
from inspector import _native
word = bytearray(8)
_native.writes_arm([(id(word), 8)], [threading.get_native_id()], 1)  # the table is taken, as if refused
with Breakpoints("storm_probe", record="stacks") as found:
    total = sum(probing.probe(i) for i in range(5))
_native.writes_disarm()
say(means=found.facts.means, hits=found.facts.places[0].hits, frame=found.hits[0].stack.frames[0].function)
""")


def test_where_the_system_refuses_gdb_does_it() -> None:
    assert told(FALLS_BACK) == {"means": "gdb", "hits": 5, "frame": "storm_probe"}


@pytest.mark.parametrize(
    "places",
    [
        ["PyFloat_FromString if 1"],
        ["nowhere_at_all"],
        ["probing.c:8"],
        ["PyExc_ValueError"],
        ["PyList_Sort", "PyDict_Copy", "PyTuple_Pack", "PySlice_New", "PyList_Reverse"],
    ],
)
def test_what_the_processor_cannot_do_is_left_to_gdb(places: list[str]) -> None:
    for names, record in ((places, "count"), (["PyList_Sort"], "full")):
        found = asked(names, None, ())
        assert hardware_breakpoints.armed(found, record, 1, 40, all_threads=False) is None
    assert _native.hardware_breakpoints_disarm() == ([], [])
