"""Of SIGABRT, SIGBUS, SIGFPE and SIGSEGV: where, with what, after which calls."""

# SPDX-License-Identifier: MIT
import json
import signal
import sys
from typing import Any

import pytest
from debugged import PREPARE, library, told
from programs import inspector

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(240)]
FATAL = [signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV]
SCRIPT = """
p = sys.modules["probing"] = load(PATH)
def outer(n):
    p.die(n)
import colorsys  # bytecode is traced from here on
for n in range(1000, 1070): p.probe(n)
"""


def assert_order(frames: list[dict[str, Any]]) -> None:
    """C, then the Python that called it."""
    names = [(frame["kind"], frame["function"]) for frame in frames if not frame["plumbing"]]
    at = [names.index(one) for one in (("native", "fall"), ("native", "die"), ("python", "outer"))]
    assert at == sorted(at) and ("python", "<module>") in names[at[2] :]


@pytest.mark.parametrize("number", FATAL, ids=lambda number: number.name)
def test_a_launched_program_stops_there_and_its_last_calls_are_kept(number: signal.Signals) -> None:
    program = [sys.executable, "-P", "-c", f"{PREPARE}{SCRIPT}outer({int(number)})", str(library())]
    done = inspector("break", "--json", "--last", "--at", "storm_probe if n > 9999", "--", *program)
    assert done.returncode == 1, done.stderr
    facts = json.loads(done.stdout)["facts"]
    (hit,) = facts["breaks"]["hits"]
    assert hit["place"] == number.name
    assert_order(hit["stack"]["frames"])
    if number != signal.SIGABRT:  # which is raised in libc, above
        values = {one["name"]: one["value"] for one in hit["arguments"]}
        assert (values["how"], values["weight"]) == (str(int(number)), "2.5")
    read = [call["value"] for call in facts["crash"]["last"] if call["function"] == "PyLong_AsLong"]
    assert read[-3:] == ["1068", "1069", str(int(number))]


STOPS = """
from inspector.sessions import running
from inspector.facts.wire import to_wire
p = sys.modules["probing"] = load(PATH)
def outer(n):
    for m in range(1000, 1070): p.probe(m)
    p.die(n)
said = []
for number in (6, 7, 8, 11):
    child = running.debug(lambda: outer(number))
    try:
        stop = child.wait(100.0).stop
        crash = running.last_calls(child, stop.reason)
        while number == 6 and stop.function != "fall":
            stop = child.command("up").stop
        after = child.command("continue").exit_code if number == 6 else None
        said.append([to_wire(stop), to_wire(crash), after])
    finally:
        child.close()
say(said=said)
"""


def test_the_child_of_a_cell_stops_there_with_its_arguments_and_last_calls() -> None:
    said = told(STOPS)["said"]
    for number, (stop, crash, after) in zip(FATAL, said, strict=True):
        assert stop["function"] == "fall" and crash["signal"] == number.name
        assert stop["reason"] == ("" if after is not None else number.name)
        variables = {one["name"]: one["value"] for one in stop["variables"]}
        assert (variables["how"], variables["weight"]) == (str(int(number)), "2.5")
        assert_order(stop["stack"]["frames"])
        read = [call["value"] for call in crash["last"] if call["function"] == "PyLong_AsLong"]
        assert read[-3:] == ["1068", "1069", str(int(number))]
