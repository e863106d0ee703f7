"""The rig of docs/wild.md: its second witness, its answers, the programs that it shows."""

# SPDX-License-Identifier: MIT
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from apart import printed

WILD = Path(__file__).resolve().parents[2] / ".ci" / "wild"
PROGRAM = """
import ctypes
take, kind = ctypes.pythonapi.Py_IncRef, type("Kind", (), {})
def call_0(): take(ctypes.py_object([1]))
def call_1(): return [[1], "text", 2.5]
def call_2(): take(ctypes.py_object(kind))
def call_3(): ctypes.string_at(0)
"""


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.syspath_prepend(str(WILD))
    for name in ("page", "entries", "repro"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    spec = importlib.util.spec_from_file_location("wild_rig", WILD / "rig.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_witness_tells_a_planted_leak_from_an_honest_call(rig: Any, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    names = [f"call_{number}" for number in range(4)]
    lines = printed(WILD / "witness.py", str(tmp_path / "program.py"), *names).splitlines()
    lost, honest, of_class, dies = map(json.loads, lines)
    assert lost["blocks"] >= 200 and lost["once"] == ["list"]
    assert not any(honest[key] for key in rig.GROWS) and honest["once"] == []
    assert of_class["rises"] == {"class Kind": 200} and not of_class["blocks"]
    assert dies["died"] == "exit code -11"
    accused = {"kind": "leaked", "object": "class program.Kind", "call": "call_2", "reason": ""}
    seen = {"call_1": honest, "call_2": of_class}
    assert rig.judged(accused, seen)["right"]
    assert not rig.judged({**accused, "call": "call_1"}, seen)["right"]
    by_runs = {
        "kind": "leaked",
        "object": "NoneType None",
        "reason": "1, 1, 1 references more",
        "call": "call_0",
    }
    assert not rig.judged(by_runs, {"call_0": lost})["right"]  # other objects than None grow
    block = {"kind": "bytes leaked outside objects", "object": "72 B", "reason": "", "call": ""}
    judged = rig.judged(block, {"call_1": honest, "call_3": {**honest, "first": 80}})
    assert not judged["right"] and judged["once"]


def test_an_answer_that_was_cut_off_is_told_and_made_again(
    rig: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, entry = tmp_path / "ujson.json", rig.listed()["ujson"]
    assert rig.answer(file) is None
    file.write_text(json.dumps({"tried": entry}))
    assert rig.answer(file) == {"tried": entry}
    file.write_text(json.dumps({"tried": {**entry, "setup": "import other"}}))
    assert rig.answer(file) is None
    file.write_text(file.read_text()[:-2])
    assert (rig.answer(file), capsys.readouterr().out) == (None, "ujson: the last answer was cut off\n")


def test_a_program_holds_what_its_call_needs(rig: Any) -> None:
    setup = "import os, json\nx = json.loads\ny = os.sep\nx.z = 3\nprint(y)\nclass K: pass"
    seen = {"blocks": 200, "bytes": 0, "resident": 0, "raised": "", "rises": {}, "falls": {}}
    program = rig.repro(setup, "x(K)", seen, "K")
    assert rig.entries.own_lines(program + "  # 1000").splitlines()[-2:] == [
        "def call(): x(K)",
        "def count(): return sys.getallocatedblocks()  # 1000",
    ]
    assert program.splitlines()[:6] == [
        "import contextlib, sys",
        "import os, json",
        "x = json.loads",
        "x.z = 3",
        "class K:",
        "    pass",
    ]


def test_the_page_keeps_what_it_said_of_packages_without_an_answer(rig: Any) -> None:
    page = (WILD.parents[1] / "docs" / "wild.md").read_text()
    asked = {name: len(rig.lines(entry)) for name, entry in rig.listed().items()}
    assert rig.page.page([], asked, page) == page
    without_leak = {
        "package": "regex", "version": "9", "failed": "", "watched": 7, "calls": 3, "seen": {}, "untold": [],
        "verdicts": [],
    }  # fmt: skip
    changed = rig.page.page([without_leak, {**without_leak, "package": "kiwisolver"}], asked, page)
    assert "regex 9 (3\ncalls)" in changed or "regex 9 (3 calls)" in changed
    assert "### kiwisolver" in page and "kiwisolver" not in changed.replace("kiwisolver 9", "")
    assert changed.count("### ") == page.count("### ") - 1
    gone = rig.page.page([{**without_leak, "failed": "pip does not install it"}], asked, page)
    assert "\n- regex 9: pip does not install it\n" in gone and "| regex |" not in gone
