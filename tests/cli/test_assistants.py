"""Assistants: `inspector answer`, and `inspector mcp` asked by the package's own client."""

# SPDX-License-Identifier: MIT
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import SCRIPTS, inspector

pytestmark = pytest.mark.quick
SERVER = SCRIPTS / "inspector"
SCRIPT = """
import numpy
whole = numpy.ones((1000, 1000))
part = whole[::2]
password = b"hunter2"
"""


def test_answers_are_the_sentences_of_the_card(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SCRIPT)
    told = inspector("answer", "part", "--script", "app.py", cwd=tmp_path).stdout.splitlines()
    assert told[0] == "A view of `whole`: every 2nd row."
    assert "While `part` lives, all 8.0 MB of `whole` stay" in " ".join(told)
    wire = json.loads(inspector("answer", "part", "--script", "app.py", "--json", cwd=tmp_path).stdout)
    first = wire["facts"]["answers"]["rows"][0]
    assert (first["slug"], first["text"], first["certain"]) == ("view-of", told[0], True)
    both = inspector("answer", "part", "whole", "--script", "app.py", cwd=tmp_path).stdout
    assert both.startswith("`part` is a view of `whole`")


def test_an_object_without_an_answer_says_where_to_look() -> None:
    assert inspector("answer", "object()").stdout.endswith("inspector show object()\n")


def asked(*calls: tuple[str, dict[str, object]], cwd: Path) -> list[tuple[bool, str]]:
    """Whether each call was refused, and its text; one session of the package's own client."""

    async def session() -> list[tuple[bool, str]]:
        import mcp  # in the room of all tests only, where the others collect this file too

        served = mcp.StdioServerParameters(command=str(SERVER), args=["mcp"], cwd=cwd)
        async with mcp.stdio_client(served) as streams, mcp.ClientSession(*streams) as client:
            await client.initialize()
            said = [await client.call_tool(name, given) for name, given in calls]
        return [(one.is_error, one.content[0].text) for one in said]

    return asyncio.run(session())


def test_each_tool_answers(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SCRIPT)
    (tmp_path / "copies.py").write_text("import numpy\nx = numpy.zeros((50, 50))\ny = numpy.array(x)\n")
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as waiting:
        said = asked(
            ("inspect", {"expression": "part", "program": "app.py"}),
            ("compare", {"expressions": ["part", "whole"], "program": "app.py"}),
            ("trace", {"program": "copies.py"}),
            ("leaks", {"program": "copies.py", "of": ["numpy"]}),
            ("memory", {"program": "app.py"}),
            ("attach", {"pid": waiting.pid}),
            cwd=tmp_path,
        )
        waiting.communicate()
    assert [refused for refused, _ in said] == [False] * 6, said
    inspected, compared, traced, leaked, account, stacks = (text for _, text in said)
    assert "A view of whole: every 2nd row." in inspected
    assert "part is a view of whole" in compared
    assert traced.startswith(" 20 kB copied by one line.")
    assert "watched  numpy" in leaked
    assert "whole" in account
    assert "read" in stacks


def test_a_mistake_is_told_and_a_secret_is_not(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SCRIPT)
    unknown, secret, raised = asked(
        ("inspect", {"expression": "nothing_of_the_kind"}),
        ("inspect", {"expression": "password", "program": "app.py"}),
        ("inspect", {"expression": "1/0"}),
        cwd=tmp_path,
    )
    assert raised[0] and "ZeroDivisionError" in raised[1]
    assert unknown[0]
    assert "unknown-name" in unknown[1]
    assert not secret[0]
    assert "hunter2" not in secret[1]


def test_a_program_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(
        "import subprocess, sys, os\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "child.wait()\n"
    )
    ((refused, text),) = asked(("trace", {"program": "endless.py", "seconds": 5}), cwd=tmp_path)
    assert refused
    assert "stopped after 5 s" in text
    pids = (tmp_path / "pids").read_text().split()
    deadline = time.monotonic() + 5
    while any(map(runs, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(pid: str) -> bool:
    """Whether the process lives (a zombie that nobody has waited for does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_without_the_package_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('no mcp here')")
    ended = inspector("mcp", cwd=tmp_path, PYTHONPATH=os.fspath(tmp_path))
    assert (ended.returncode, "mcp-missing" in ended.stderr) == (2, True)
