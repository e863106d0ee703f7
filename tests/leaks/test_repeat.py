"""The repeat rule: what every run adds or takes where no hook sees it, and a crash in a copy of the process.

It runs in a process of its own: in one that has run thousands of tests other threads move counts too.
"""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any

import pytest
import repeat_judge
import specimens
from apart import printed
from leak_corpus import SOURCE
from refused import refused

import inspector

pytestmark = pytest.mark.core
Judged = dict[str, list[dict[str, Any]]]
JUDGE = Path(specimens.__file__).with_name("repeat_judge.py")


@pytest.fixture(scope="module")
def judged() -> Judged:
    specimens.library("leak_corpus", SOURCE)  # compiled outside the child's deadline
    specimens.library("slotted", repeat_judge.SLOTS)
    specimens.library("resized", repeat_judge.RESIZED)
    return json.loads(printed(JUDGE))


def test_new_objects_that_nobody_reaches_are_leaked(judged: Judged) -> None:
    (one,) = judged["new objects"]
    assert (one["kind"], one["certain"]) == ("leaked", True) and one["object"].startswith("str 'fresh")
    assert "1, 1, 1 objects left over after each of 3 runs" in one["reason"]


@pytest.mark.quick
def test_a_reference_more_to_one_object_is_leaked(judged: Judged) -> None:
    (one,) = judged["one object more"]
    assert (one["kind"], one["certain"]) == ("leaked", False) and one["object"].startswith("str")


@pytest.mark.quick
def test_a_reference_fewer_is_over_released(judged: Judged) -> None:
    (one,) = judged["one object fewer"]
    assert one["kind"] == "over-released" and one["object"].startswith("frozenset")


@pytest.mark.parametrize(
    ("name", "kind", "object", "numbers"),
    [
        ("type more", "leaked", "class slotted.KeepsType", "3, 3, 3 references more"),
        ("type fewer", "over-released", "class slotted.TakesType", "1, 1, 1 references fewer"),
    ],
)
def test_a_dealloc_that_miscounts_is_named(
    judged: Judged, name: str, kind: str, object: str, numbers: str
) -> None:
    (one,) = judged[name]
    assert (one["kind"], one["object"], one["certain"]) == (kind, object, False)
    assert one["reason"].startswith(numbers) and "tp_dealloc" in one["cure"]


BALANCED = [
    "type balanced",
    "balanced",
    "kept",
    "ranges",
    "resized",
    "once: balanced",
    "once: kept",
    "once: iterated",
]


@pytest.mark.quick
@pytest.mark.parametrize("name", [*BALANCED, *repeat_judge.HONEST])
def test_what_balances_is_not_accused(judged: Judged, name: str) -> None:
    assert judged[name] == []


@pytest.mark.parametrize(
    ("name", "method", "found"),
    [
        ("leaked where it is set", "mp_ass_subscript", "str 'fresh"),
        ("leaked where it is called", "tp_call", "str 'fresh"),
        ("leaked where it is iterated", "tp_iternext", "Box"),
    ],
)
def test_a_slot_that_takes_too_many_is_named(judged: Judged, name: str, method: str, found: str) -> None:
    (one,) = judged[f"once: {name}"]
    assert (one["kind"], one["method"]) == ("leaked", f"slotted.Box.{method}")
    assert one["object"].startswith(found)


def test_a_status_of_0_with_an_exception_is_told(judged: Judged) -> None:
    (one,) = judged["once: 0 with an exception"]
    assert (one["kind"], one["certain"]) == ("result with an exception set", True)
    assert one["method"] == "slotted.Box.mp_ass_subscript"


def test_a_crash_is_a_verdict_and_the_process_lives(judged: Judged) -> None:
    one, *_ = (one for one in judged["crash"] if one["kind"] == "crash")
    assert one["certain"] and one["reason"].startswith("SIGABRT") and one["function"] == "run"


def test_a_copy_without_an_answer_is_refused() -> None:
    def run() -> None:
        raise ValueError("no")

    with refused("not-isolated"):
        inspector.leaks("json").run(run, isolate=True)


def test_counts_are_not_disturbed(fingerprint: Any) -> None:
    value = ["a list that is only looked at"]
    before = fingerprint(value)
    inspector.leaks("json").run(lambda: json.dumps(value))
    assert fingerprint(value) == before


def test_how_often_may_be_said_beforehand() -> None:
    calls: list[int] = []
    found = inspector.leaks("json", repeat=2).run(lambda: calls.append(1))
    assert (found.fact.runs, len(calls)) == (2, 5)
    assert inspector.leaks("json", repeat=2).run(lambda: None, repeat=1).fact.runs == 1


@pytest.mark.parametrize("repeat", [0, -1, "3", True])
def test_a_number_of_runs_that_is_none(repeat: Any) -> None:
    with refused("bad-option"):
        inspector.leaks("json", repeat=repeat)


def test_a_block_is_not_repeated() -> None:
    with refused("bad-option", "a `with` block runs once"), inspector.leaks("json", repeat=3):
        pass
    with inspector.leaks("json"):  # nobody's turn was taken
        pass
