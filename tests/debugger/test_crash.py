"""What a process that died left: a core file's signal, place and stacks; the last calls of a kept trace."""

# SPDX-License-Identifier: MIT
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from debugged import PREPARE, Program, library
from refused import refused

from inspector.errors import InspectorError
from inspector.facts.crash import Crash
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.sessions import running, trace

pytestmark = [
    pytest.mark.debugger,
    pytest.mark.skipif(
        not shutil.which("gdb"), reason="cannot be installed: gdb, which writes the core file"
    ),
]

TRACED = """
import inspector
probing = load(PATH)
sys.modules["probing"] = probing
trace = inspector.trace("probing", keep=os.environ["KEEP"])
with trace:
    for n in range(250):
        probing.probe(n)
    if os.environ["END"] == "well":
        pass
    elif os.environ["END"] == "kill":
        os.kill(os.getpid(), 9)
    else:
        probing.crash()
say(ended=1)
"""
DIES = """
import threading, time
threading.Thread(target=lambda: time.sleep(1000), daemon=True).start()
def fall(n):
    load(PATH).crash()
fall(3)
"""


def ended(folder: Path, end: str) -> int:
    """How a traced program ended, as its parent sees it."""
    with Program(TRACED, KEEP=str(folder), END=end) as program:
        assert program.child.stdout.read() in ("", '{"ended": 1}\n')  # type: ignore[union-attr]
        return program.child.wait(60)


@pytest.mark.quick
@pytest.mark.parametrize(("end", "code"), [("kill", -signal.SIGKILL), ("crash", -signal.SIGSEGV)])
def test_the_last_calls_outlive_the_process(tmp_path: Path, end: str, code: int) -> None:
    assert ended(tmp_path, end) == code
    found = running.crash(str(tmp_path))
    assert not isinstance(found.last, Unknown)
    assert len(found.last) == 100 and found.recorded >= 500
    read = [call for call in found.last if call.function == "PyLong_AsLong"]
    assert [int(call.value) for call in read][-3:] == [247, 248, 249]
    assert {call.direction for call in read} == {"to native"}
    assert found.last[-1].before_ns == 0 and found.last[0].before_ns > 0
    assert isinstance(found.signal, Unknown) and isinstance(found.stacks, Unknown)
    assert from_wire(Crash, to_wire(found)) == found


def test_a_trace_that_ends_by_itself_leaves_nothing(tmp_path: Path) -> None:
    assert ended(tmp_path, "well") == 0
    assert list(tmp_path.iterdir()) == []
    with refused("no-remains"):
        running.crash(str(tmp_path))


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A core file of a Python that died of SIGSEGV in C, by gdb: the system's own pattern may be any."""
    folder = tmp_path_factory.mktemp("core")
    script, file = folder / "dies.py", folder / "core.dead"
    script.write_text(PREPARE + DIES)
    program = os.path.realpath(sys.executable)
    words = ["-ex", "run", "-ex", f"generate-core-file {file}", "-ex", "kill"]
    command = ["gdb", "-q", "-nx", "-batch", "-iex", "set auto-load off", *words]
    command += ["--args", program, "-P", str(script), str(library())]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=100)
    return file


@pytest.mark.quick
def test_a_core_file_says_of_what_and_where_it_died(core: Path) -> None:
    found = running.crash(str(core))
    assert (found.signal, found.fault, found.thread_id) == ("SIGSEGV", 8, found.pid)
    assert str(found.place).startswith("crash (")
    assert not isinstance(found.stacks, Unknown) and len(found.stacks.threads) == 2
    (died,) = [one for one in found.stacks.threads if one.thread_id == found.pid]
    python = [frame.function for frame in died.frames if frame.kind == "python"]
    assert python == ["fall", "<module>"]
    names = [frame.function for frame in died.frames]
    assert names.index("crash") < names.index("fall")


def test_both_remains_are_one_crash_and_the_terminal_draws_it(
    core: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from inspector.faces.cli import main

    assert ended(tmp_path, "crash") == -signal.SIGSEGV
    assert main(["crash", str(core), str(tmp_path)]) == 0
    drawn = " ".join(capsys.readouterr().out.split())
    assert "died of SIGSEGV in crash (" in drawn and "100 calls before it" in drawn and "fall" in drawn
    assert main(["crash", str(core), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["crash"]["signal"] == "SIGSEGV"


def test_what_is_no_crash_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "core"
    broken.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x04\x00" + bytes(100))
    text = tmp_path / "text"
    text.write_text("no core")
    told = {broken: "bad-core", text: "bad-core", tmp_path: "no-remains", "/nowhere": "unreadable-file"}
    for path, slug in told.items():
        with pytest.raises(InspectorError) as caught:
            running.crash(str(path))
        assert (caught.value.slug, caught.value.exit_code) == (slug, 2)
    with refused("unwritable-file"):
        trace.trace(keep="/proc/nowhere")
