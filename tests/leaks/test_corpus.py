"""The corpus of forty: every fault is named on the first call, with its line; nothing honest is accused."""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

import pytest
import specimens
from leak_corpus import FAULTS, HONEST, SOURCE, Thing, argument, line_of

import inspector
from inspector import _native
from inspector.leaked import Leaked

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    return specimens.build("leak_corpus", SOURCE)


def called(corpus: ModuleType, name: str, x: Any) -> tuple[Leaked, Any]:
    with inspector.leaks("leak_corpus") as found:
        result = None
        with contextlib.suppress(TypeError, AttributeError, ValueError, SystemError):
            result = getattr(corpus, name)(x)
    return found, result


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_on_the_first_call(corpus: ModuleType, name: str) -> None:
    kind, type_name = FAULTS[name]
    x = argument(name)
    found, result = called(corpus, name, x)
    said = [one for one in found if one.kind == kind]
    assert len(said) == len(found.verdicts) == 1, found.verdicts
    (one,) = said
    assert one.certain and one.method == f"leak_corpus.{name}"
    assert one.object.startswith(type_name)
    assert not isinstance(one.conversion, inspector.Unknown)
    assert one.conversion.source == f"leak_corpus.c:{line_of(name)}"
    assert one.rule and one.cure and one.reason
    del x, result  # nothing dies of what was found


@pytest.mark.parametrize("name", HONEST)
def test_nothing_honest_is_accused(corpus: ModuleType, name: str) -> None:
    found, _ = called(corpus, name, argument(name))
    assert found.verdicts == ()


def test_what_is_kept_on_purpose_is_said(corpus: ModuleType) -> None:
    found, _ = called(corpus, "cached_in_static", Thing())
    (kept,) = found.kept
    assert "cached" in kept.holder and kept.objects == 1


def test_an_object_released_too_often_lives_on(corpus: ModuleType) -> None:
    thing = Thing()
    found, _ = called(corpus, "release_of_argument", thing)
    assert found.fact.given_back == 1
    assert type(thing) is Thing and inspector.refcount(thing) == 1


def test_everything_is_put_back(corpus: ModuleType) -> None:
    with pytest.raises(KeyboardInterrupt), inspector.leaks("leak_corpus"):
        raise KeyboardInterrupt
    assert _native.calls_armed() == 0
    assert not any(slot[6] for slot in _native.got_slots())
    assert _native.ledger_rooms() == [(0, 0), (0, 0)]
