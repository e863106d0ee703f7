"""The catalogue's engine over a library of the test's own: one function of each verdict, a crash, a hang."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from inspector.errors import InspectorError
from inspector.facts.catalogue import Catalogue
from inspector.sessions.catalogue import run, stored, told
from inspector.sessions.catalogue.rules import rule

TINY = """
import os
import numpy as np

def part(x): return x[1:]
def whole(x): return x
def again(x): return np.array(x)
def narrow(x): return np.asarray(x).astype("f4")
def double(x): return np.asarray(x) * 2.5
def count(x): return len(x)
def fill(x): x[:] = 7
def either(x): return np.ravel(x)
def halves(x): return [x[1:], np.array(x)]
def crashes(x): os.abort()
def writes(x, path="{outside}"): open(path, "w").write("x")
def asks(x): import socket; socket.create_connection(("localhost", 1))
def keeps(x): open("kept", "w").write("x"); return np.array(x)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tinylib.py").write_text(TINY.format(outside=folder / "written"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        found = run.run("tinylib")
    assert not (folder / "written").exists()
    return found


def did(found: Catalogue, name: str) -> dict[str, str]:
    """Kind -> what a function did with it."""
    return {case.kind: case.did for case in found.cases if case.operation == f"tinylib.{name}"}


@pytest.mark.quick
def test_each_verdict_is_told_by_the_bytes(found: Catalogue) -> None:
    kinds = ("C-contiguous", "Fortran-contiguous", "with gaps", "one axis")
    expected = {
        "part": "view", "whole": "same object", "again": "copy", "narrow": "copy that loses",
        "double": "new values", "count": "no bytes", "fill": "in place", "halves": "partly a view",
        "keeps": "copy",
    }  # fmt: skip
    for name, verdict in expected.items():
        assert {did(found, name)[kind] for kind in kinds} == {verdict}, name
    assert did(found, "part")["memoryview"] == "view"
    assert did(found, "part")["bytearray"] == "selection"


@pytest.mark.quick
def test_a_crash_loses_its_own_operation_only(found: Catalogue) -> None:
    lost = dict(found.lost)
    assert {name.partition(",")[0] for name in lost} == {"tinylib.crashes"}
    assert "SIGABRT" in lost["tinylib.crashes, C-contiguous"]


def test_a_hang_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hanging.py").write_text("def waits(x):\n    while True:\n        pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(run, "DEADLINE_S", 1.0)
    monkeypatch.setattr(run, "ALONE_S", 0.5)
    assert dict(run.run("hanging").lost) == {
        "hanging.waits, C-contiguous": "the child was stopped after 0.5 s",
        "hanging.waits, Fortran-contiguous": "the child was stopped after 0.5 s",
    }


def test_files_elsewhere_and_the_network_are_refused(found: Catalogue) -> None:
    assert did(found, "writes") == did(found, "asks") == {}


def test_a_trace_says_the_same(found: Catalogue) -> None:
    arrays = [case for case in found.cases if case.kind != "bytearray"]
    assert [case for case in arrays if case.agrees == "no"] == []
    assert sum(case.agrees == "yes" for case in arrays) > 40


def test_cases_become_a_rule(found: Catalogue) -> None:
    arrays = [
        case
        for case in found.cases
        if case.operation == "tinylib.either" and case.kind in ("C-contiguous", "one axis", "with gaps")
    ]
    assert rule(arrays) == "copy if with gaps, else view"
    assert rule(arrays[:1]) == "view"


def test_what_was_saved_is_read_back_and_asked_for(
    found: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored.save(found, tmp_path)
    again = stored.load(path)
    assert {(case.operation, case.kind, case.did, case.made) for case in again.cases} == {
        (case.operation, case.kind, case.did, round(case.made, 1)) for case in found.cases
    }
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    rules = told.asked("tinylib.part")
    assert {one.call for one in rules.rules} == {"tinylib.part(x)"}
    with pytest.raises(InspectorError, match="no operation") as raised:
        told.asked("part")
    assert "tinylib.part" in raised.value.do


def test_a_library_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(InspectorError, match="nosuchlib cannot be imported") as raised:
        run.run("nosuchlib")
    assert raised.value.slug == "no-such-library"


def test_a_wrong_trace_is_a_disagreement() -> None:
    assert run.agrees("view", "copied") == run.agrees("copy", "view") == "no"
    assert run.agrees("partly a view", "view+copied") == "yes"
    assert run.agrees("copy", "unknown") == run.agrees("no bytes", "") == "not told"
