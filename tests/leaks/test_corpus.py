"""The corpus of forty: every fault is named on the first call, with its line; nothing honest is accused.

It runs in a process of its own: in one that has run thousands of tests, old pointers to an address that is
used again stand in live memory, and what they might hold is rightly no longer certain.
"""

# SPDX-License-Identifier: MIT
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import specimens
from apart import printed
from leak_corpus import FAULTS, HONEST, SOURCE
from refused import refused

import inspector
from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]
Judged = dict[str, dict[str, Any]]
JUDGE = Path(specimens.__file__).with_name("leak_judge.py")


@pytest.fixture(scope="module")
def judged() -> Judged:
    specimens.library("leak_corpus", SOURCE)  # compiled outside the child's deadline
    return json.loads(printed(JUDGE))


def died_in_call(name: str) -> bool:
    """From 3.14 on a call borrows a local variable of its caller: the release of its argument is the last."""
    return name == "release_of_argument" and sys.version_info >= (3, 14)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_on_the_first_call(judged: Judged, name: str) -> None:
    kind, type_name = FAULTS[name]
    (one,) = judged[name]["verdicts"]
    assert (one["kind"], one["certain"], one["method"]) == (kind, True, f"leak_corpus.{name}")
    assert one["object"].startswith(type_name)
    line = specimens.line_of(SOURCE, name)
    line += died_in_call(name)  # there the line of the release is known
    assert one["source"] == f"leak_corpus.c:{line}"
    assert one["rule"] and one["cure"] and one["reason"]


@pytest.mark.parametrize("name", HONEST)
def test_nothing_honest_is_accused(judged: Judged, name: str) -> None:
    assert judged[name]["verdicts"] == []


def test_what_is_kept_on_purpose_is_said(judged: Judged) -> None:
    (kept,) = judged["cached_in_static"]["kept"]
    assert "cached" in kept


@pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="not on CPython 3.14: a call borrows a local variable, and its release is the last",
)
def test_an_object_released_too_often_lives_on(judged: Judged) -> None:
    assert judged["release_of_argument"]["given_back"] == 1
    assert judged["release_of_argument"]["refcount"] == judged["takes_and_gives_back"]["refcount"]


def test_everything_is_put_back() -> None:
    corpus = specimens.build("leak_corpus", SOURCE)
    with pytest.raises(KeyboardInterrupt), inspector.leaks("leak_corpus"):
        corpus.tuple_set_item(1)
        raise KeyboardInterrupt
    assert _native.calls_armed() == 0
    assert not any(slot[6] for slot in _native.got_slots())
    assert set(_native.ledger_rooms()) == {(0, 0)}


def test_a_second_ledger_is_refused() -> None:
    with inspector.leaks("json"), refused("trace-running"):
        inspector.leaks("json").__enter__()


def test_verdicts_are_asked_for_after_the_block() -> None:
    with refused("trace-not-finished"):
        _ = inspector.leaks("json").verdicts
