"""Faults in pybind11, nanobind, Cython and the stable ABI: each told with its line, no honest twin accused.

A process for each binding, for the reason of test_corpus.py. What kind of fault each is has a second witness:
a count of references, blocks and bytes over 200 calls, without the tool.
"""

# SPDX-License-Identifier: MIT
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import leaks_of_bindings as table
import pytest
from apart import printed

pytestmark = pytest.mark.quick

LATEST = (pytest.mark.newest, pytest.mark.slow, pytest.mark.timeout(600))
MARKS = {"pybind11": LATEST, "nanobind": LATEST, "cython": LATEST, "stable_abi": (pytest.mark.core,)}
BINDINGS = [pytest.param(one, marks=MARKS[one]) for one in MARKS]


def cases(names: Callable[[str], Iterable[str]], marks: Callable[[str, str], Any] | None = None) -> list[Any]:
    """(binding, name) of each, marked."""
    return [
        pytest.param(one, name, id=f"{one}-{name}", marks=(*MARKS[one], *(marks(one, name) if marks else ())))
        for one in MARKS
        for name in names(one)
    ]


def missed(binding: str, name: str) -> tuple[Any, ...]:
    """A strict xfail where it is known that nothing is told."""
    why = table.FAULTS[binding][name].missed
    return (pytest.mark.xfail(reason=why, strict=True),) if why else ()


Judged = dict[str, Any]
_JUDGED: dict[str, Judged] = {}


@pytest.fixture
def judged(binding: str) -> Judged:
    if binding not in _JUDGED:
        table.module(binding)  # compiled outside the child's deadline
        judge = Path(table.__file__).with_name("binding_judge.py")
        _JUDGED[binding] = json.loads(printed(judge, binding))
    return _JUDGED[binding]


def told_of(judged: Judged, planted: table.Planted, name: str) -> list[dict[str, Any]]:
    fault = f"{name}_fault"
    return judged["runs"][fault] if planted.runs else judged["first"][fault]["verdicts"]


@pytest.mark.parametrize(("binding", "name"), cases(table.FAULTS.__getitem__, missed))
def test_each_fault_is_told_with_its_line(judged: Judged, binding: str, name: str) -> None:
    planted = table.FAULTS[binding][name]
    (one,) = told_of(judged, planted, name)
    assert (one["kind"], one["certain"]) == (planted.kind, planted.certain)
    assert one["object"].startswith(planted.shown)
    if planted.line or not planted.runs:
        assert one["method"] == f"leaks_of_{binding}.{planted.method or f'{name}_fault'}"
    if planted.line:
        file = f"leaks_of_{binding}{Path(table.FILES[binding]).suffix}"
        assert one["source"].partition(" ")[0] == f"{file}:{table.line_of(binding, name)}"


@pytest.mark.parametrize(("binding", "name"), cases(table.FAULTS.__getitem__))
def test_a_count_without_the_tool_sees_the_fault(judged: Judged, binding: str, name: str) -> None:
    if name == "listset" and sys.version_info >= (3, 12):
        pytest.skip("not on CPython 3.12: a freed block may look immortal, and is then not released again")
    assert judged["counted"][f"{name}_fault"].startswith(table.FAULTS[binding][name].moves)


@pytest.mark.parametrize(("binding", "name"), cases(table.honest))
def test_no_honest_twin_is_accused(judged: Judged, binding: str, name: str) -> None:
    assert judged["counted"][f"{name}_honest"] == "balanced"
    assert judged["first"][f"{name}_honest"]["verdicts"] == []


@pytest.mark.parametrize("binding", BINDINGS)
def test_several_runs_of_all_honest_twins_accuse_nobody(judged: Judged, binding: str) -> None:
    """`possible` is allowed: Cython 3.3.1 itself loses a reference of its generators' class with each one."""
    assert [one for one in judged["honest"] if one["certain"]] == []
