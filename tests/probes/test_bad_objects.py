"""Whatever it is, it is drawn, no code of its own runs, and it is left as it was."""

# SPDX-License-Identifier: MIT

import bad_objects
import pytest

import inspector
from inspector._native import Subject
from inspector.facts.unknown import Unknown
from inspector.objects.probes.held import held
from inspector.objects.probes.object import details, object_
from inspector.report import from_text
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = pytest.mark.core

EVERY = pytest.mark.parametrize("case", bad_objects.CASES)


@pytest.fixture
def bad(case):
    box = bad_objects.boxed(case)
    bad_objects.reset()
    yield box
    bad_objects.reset()


def user_code_ran():
    return dict(bad_objects.CALLS), list(bad_objects.SIDE_EFFECTS)


def test_the_classic_cases_are_all_here():
    assert len(bad_objects.CLASSIC) == 28
    assert len(bad_objects.CASES) > 60


def test_the_counter_counts():
    bad_objects.reset()
    with pytest.raises(RuntimeError):
        repr(bad_objects.ReprRaises())
    assert user_code_ran() == ({"__repr__": 1}, [])
    bad_objects.reset()


@EVERY
def test_the_card_is_drawn(bad, case, fingerprint):
    before = fingerprint(bad.object)
    bad_objects.reset()
    report = inspector.inspect(bad.object, name="bad")
    text = report.to_text()
    page = report.to_html()
    saved = report.to_json()
    failed = {name: why for name, why in report.unanswered.items() if "failed" in why}
    fact, again = report.object, from_text(saved, "saved")
    ran, after = user_code_ran(), fingerprint(bad.object)  # not inside an assert: pytest keeps references
    assert ran == ({}, [])
    assert after == before
    assert failed == {} and again == report
    assert isinstance(fact.preview, Unknown) or (len(fact.preview) <= 60 and fact.preview.isprintable())
    assert len(text.encode()) < 4096
    assert all(line.isprintable() for line in text.splitlines())
    assert "\x1b" not in page + saved
    for shown in (text, page, saved):
        assert bad_objects.SECRET not in shown or case == "DeepTuple"


@EVERY
def test_its_graph_runs_none_of_its_code(bad, case):
    held(Subject(bad.object))
    assert user_code_ran() == ({}, [])


def test_no_new_asks_no_metaclass():
    """It asks the class of every object that is alive."""
    kept = bad_objects.MetaEvil()
    bad_objects.reset()
    with inspector.no_new("nothing.has.this.name"):
        pass
    del kept
    assert user_code_ran() == ({}, [])


def test_an_object_in_its_own_finalizer(fingerprint):
    seen = []

    class Dying:
        def __del__(self):
            seen.append(object_(Subject(self)))

    dying = Dying()
    address = id(dying)
    del dying
    assert [fact.address for fact in seen] == [address]
    assert seen[0].size_bytes > 0


def test_an_object_in_its_own_init():
    seen = []

    class Early:
        def __init__(self):
            seen.append(object_(Subject(self)))

    early = Early()
    assert seen[0].address == id(early)


def test_a_type_in_the_making():
    """A metaclass looks at its class before and while CPython builds it."""
    seen = []

    class Early(type):
        def mro(cls):
            seen.append((object_(Subject(cls)), details(Subject(cls))["type"]))
            return type.mro(cls)

    made = Early("Made", (list,), {})
    fact, kind = seen[0]
    assert fact.address == id(made)
    assert kind.name.endswith("Made")
    assert plain_text(view(kind), Drawing())


def test_secrets_are_shown_when_asked():
    account = {"password": bad_objects.SECRET}
    assert bad_objects.SECRET not in object_(Subject(account)).preview
    assert bad_objects.SECRET in object_(Subject(account), reveal=True).preview
