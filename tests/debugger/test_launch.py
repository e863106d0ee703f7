"""Programs started under gdb from the terminal, watched by their number, and read without gdb."""

# SPDX-License-Identifier: MIT
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import reticulated
from debugged import PREPARE, Program, library, until
from programs import inspector

from inspector.debugger.memory import proc
from inspector.debugger.memory.merge import marked, merged
from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.debugger


def broken(*arguments: str, **environment: str) -> tuple[int, dict[str, Any]]:
    """`inspector break --json ARGUMENTS`: exit code and facts."""
    done = inspector("break", "--json", *arguments, **environment)
    assert done.stdout.startswith("{"), done.stderr
    return done.returncode, json.loads(done.stdout)["facts"]["breaks"]


def program(script: str) -> list[str]:
    return [sys.executable, "-P", "-c", PREPARE + script, str(library())]


@pytest.mark.core
def test_a_program_is_watched_from_its_start_to_its_crash() -> None:
    code, facts = broken("--at", "storm_probe", "--", *program("p = load(PATH)\np.probe(4)\np.crash()"))
    assert code == 1
    assert [hit["place"] for hit in facts["hits"]] == ["storm_probe", "SIGSEGV"]
    assert facts["hits"][0]["arguments"][0]["value"] == "4"
    frames = [frame["function"] for frame in facts["hits"][1]["stack"]["frames"] if not frame["plumbing"]]
    assert frames[0] == "crash" and "<module>" in frames


@pytest.mark.core
def test_what_cannot_be_run_is_said_in_one_sentence() -> None:
    for arguments in (["--at", "x"], ["--at", "x", "--", "no-such-program"], ["--", "true"]):
        done = inspector("break", *arguments)
        assert done.returncode == 2 and done.stderr.startswith("inspector: "), done.stderr
        assert "Traceback" not in done.stderr


BUSY = """
probing = load(PATH)
say(pid=os.getpid())
while True:
    probing.probe(5)
"""


@pytest.mark.core
def test_a_running_process_is_watched_and_left() -> None:
    with Program(BUSY) as busy:
        busy.said()
        code, facts = broken("--at", "storm_probe", "--budget", "3", "--seconds", "3", "--pid", str(busy.pid))
        assert code == 0
        assert len(facts["hits"]) == 3 and facts["dropped"] >= 1
        busy.assert_whole()


SLEEPER = """
import time
def inner(_):
    say(pid=os.getpid())
    time.sleep(1000)
def outer():
    sorted([1], key=inner)
outer()
"""


@pytest.mark.parametrize("python", [sys.executable, "/usr/bin/python3"], ids=["this", "debian"])
def test_stacks_of_another_process_without_gdb(python: str) -> None:
    if not Path(python).exists():
        pytest.skip("not on CPython of a distribution")
    with Program(SLEEPER, python=python) as sleeper:
        sleeper.said()
        until(lambda: proc.thread_states(sleeper.pid) == {"S"})
        done = inspector("stacks", str(sleeper.pid), "--json")
        assert done.returncode == 0, done.stderr
        thread = json.loads(done.stdout)["facts"]["stacks"]["threads"][0]
        frames = [frame["function"] for frame in thread["frames"] if frame["kind"] == "python"]
        assert frames == ["inner", "outer", "<module>"]
        kinds = [frame["kind"] for frame in thread["frames"]]
        between = kinds[kinds.index("python") : len(kinds) - kinds[::-1].index("python")]
        assert "native" in between  # sorted() stands between inner and outer
        sleeper.assert_whole()


def test_a_process_that_is_none_is_refused() -> None:
    done = inspector("stacks", str(2**22 - 1))
    assert (done.returncode, "no-process" in done.stderr) == (3, True)


def test_evaluation_frames_stand_for_python_segments_in_turn() -> None:
    def native(name: str) -> Frame:
        return marked(Frame("native", name, "x.so", Unknown("none"), False))

    def python(name: str) -> Frame:
        return Frame("python", name, "x.py", "x.py:1", False)

    stack = [
        native(name) for name in ("f", "_PyEval_EvalFrameDefault", "_PyEval_Vector", "g", "_TAIL_CALL_X")
    ]
    found = merged(stack, [[python("a"), python("b")], [python("c")], [python("d")]])
    assert [frame.function for frame in found] == ["f", "a", "b", "_PyEval_Vector", "g", "c", "d"]
    assert [frame.function for frame in found if frame.plumbing] == ["_PyEval_Vector"]


SEED = """
library(reticulate)
x <- py_eval("[1.5,2.5,3.5]")
py_run_string("def f(v): return len(v)")
stopifnot(py$f(c(1,2,3)) == 3)
"""


@pytest.mark.r
@pytest.mark.timeout(300)
def test_reticulate_from_one_command(tmp_path: Path) -> None:
    """Seed 000: both directions, arguments decoded in a stripped library, `convert` read."""
    hits = reticulated.hits(tmp_path, SEED, "/usr/bin/python3")
    values = [(hit["place"], {a["name"]: a["value"] for a in hit["arguments"]}) for hit in hits]
    assert ("py_to_r", {"x": "list (3 items)", "convert": "true"}) in values
    to_python = [found for place, found in values if place == "r_to_py_cpp"]
    assert any(one["x"] == "numeric(3) 1 2 3" for one in to_python)
    assert {one["convert"] for one in to_python} <= {"true", "false"}
    down = next(hit for hit in hits if hit["place"] == "py_to_r")
    names = [frame["function"] for frame in down["stack"]["frames"]]
    assert names[0].startswith("py_to_r") and "Rf_eval" in names
