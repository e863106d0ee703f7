"""The verbs on real objects; a probe that really fails costs its own column."""

# SPDX-License-Identifier: MIT
import sys
import types

import numpy as np
import pytest
from refused import refused

import inspector
from inspector.facts.comparison import Comparison
from inspector.facts.heap import Heap, Snapshot
from inspector.facts.refs import Owners, Retained
from inspector.facts.secret import gives_secret
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


def test_inspect_gives_the_columns_that_apply() -> None:
    assert set(inspector.inspect([1]).facts) == {"answers", "object", "refs", "contents", "materialization"}
    of_array = {"answers", "object", "refs", "buffer", "layout", "materialization"}
    assert set(inspector.inspect(np.arange(3)).facts) == of_array
    assert "type" in inspector.inspect(np.ndarray).facts
    assert "module" in inspector.inspect(sys).facts
    assert "builtin" in inspector.inspect(len).facts


def test_the_dearer_columns_are_there_when_asked() -> None:
    rows = [[1]]
    report = inspector.inspect(rows, also=("chain", "retained"))
    assert report.retained == inspector.retained(rows)
    assert report.chain.found


def test_the_other_verbs_give_facts() -> None:
    base = np.arange(10)
    assert isinstance(inspector.owners(base), Owners)
    assert isinstance(inspector.retained(base), Retained)
    assert inspector.retained([base.copy()]).retained_bytes > base.nbytes
    assert inspector.shares(base, base[2:4]).overlap_bytes == 2 * base.itemsize
    assert inspector.shares(base, base.copy()).overlap is False
    assert isinstance(inspector.heap(), Heap)
    before = inspector.snapshot({"base": base})
    assert isinstance(before, Snapshot)
    kept = [object() for _ in range(1000)]
    born = {row.type_name: row.objects for row in (inspector.snapshot({"base": base}) - before).types}
    assert born["object"] == 1000
    del kept


def test_compare_tells_what_differs_and_what_is_shared() -> None:
    base = np.ones((3, 4))
    other = base.T
    found = inspector.compare(base, other, names=("base", "other"))
    assert isinstance(found, Comparison)
    assert found.same_object is False
    assert found.sharing.overlap_bytes == base.nbytes
    changes = {(change.column, change.field): (change.left, change.right) for change in found.changes}
    assert changes["layout", "shape"] == ("(3, 4)", "(4, 3)")
    assert changes["buffer", "owns"][1] == "False"
    assert not {"address", "header", "range.start"} & {field for _, field in changes}
    assert inspector.compare(base, base).same_object is True
    assert inspector.compare(base, base).changes == ()


def test_a_probe_that_really_fails_costs_its_own_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe of the layout is really broken: the module it needs raises at its first use."""
    broken = types.ModuleType("inspector.objects.probes.layout")
    exec("def layout(subject):\n    return 1 / 0\n", broken.__dict__)
    monkeypatch.setitem(sys.modules, "inspector.objects.probes.layout", broken)
    monkeypatch.setattr("inspector.objects.probes.layout", broken)
    report = inspector.inspect(np.arange(3), name="x")
    assert report.layout == Unknown("the probe failed with ZeroDivisionError")
    assert set(report.unanswered) == {"layout"}
    assert " layout   ? the probe failed with ZeroDivisionError\n" in str(report)
    assert " memory   24 B" in str(report)


def test_a_secret_name_hides_the_value_in_every_form() -> None:
    token = "hunter2-in-plain-text"
    report = inspector.inspect(token)
    assert report.name == "token"
    assert report.object.preview == "<masked>"
    assert "hunter2" not in str(report) + report.to_json() + report.to_html() + report.to_svg()
    assert "hunter2" in str(inspector.inspect(token, reveal=True))
    api_key = np.frombuffer(b"hunter2!", dtype="u1")
    assert "104" not in str(inspector.inspect(api_key))
    assert "104" in str(inspector.inspect(api_key, reveal=True))


@pytest.mark.parametrize(
    ("expression", "secret"),
    [
        ("password", True),
        ("db.password", True),
        ("config['api_key']", True),
        ('config["a"]["token"]', True),
        ("tokens[0]", True),
        ("get_secret(user)", True),
        ("tokens[rows[0]](1)", True),
        ("rows[key]", False),
        ("monkey", False),
        ("db.password.length", False),
        ("config['user']", False),
        ("(", False),
        ("]" * 5000, False),
        ("", False),
    ],
)
def test_which_expressions_give_a_secret(expression: str, secret: bool) -> None:
    assert gives_secret(expression) is secret


def test_the_door_has_every_verb_and_imports_on_first_use() -> None:
    verbs = "inspect refcount owners chain retained shares compare heap snapshot"
    assert {*verbs.split()} <= set(dir(inspector))


def test_a_type_with_an_endless_name_leaves_the_card_short() -> None:
    """A card is 4 KB, whatever the size: two of its lines said the name, with 4,000 characters each."""
    assert len(str(inspector.inspect(type("N" * 1_000_000, (), {})()))) < 4096


WRONG = {
    "width": (lambda: inspector.inspect(1).drawn(width="wide"), "bad-option", "a number of cells, not wide"),
    "narrow": (lambda: inspector.inspect(1).drawn(width=0), "bad-option", "a number of cells, not 0"),
    "place": (lambda: inspector.breakpoints(3).__enter__(), "bad-place", "'3'"),
    "consumer": (lambda: inspector.conversions(1, to="nope"), "unknown-consumer", "to nope"),
    "number": (lambda: inspector.conversions(1, to=[3]), "unknown-consumer", "to 3"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_argument_is_one_sentence(wrong: str) -> None:
    ask, slug, said = WRONG[wrong]
    with refused(slug) as caught:
        ask()
    assert said in caught.value.what


def test_the_owner_of_a_views_bytes_has_the_users_name() -> None:
    big = np.zeros(1000)
    x = big[3:7]
    assert inspector.inspect(x).buffer.holders[-1].name == "big"
    report = inspector.inspect(x, known={id(big): "large"})
    assert report.buffer.holders[-1].name == "large"
    assert "A view of large: elements 3 to 6." in report.to_text()
    assert "inside large (8.0 kB)" in report.drawn(everything=True).to_text()


def test_an_owner_without_a_name_has_the_one_of_an_array_that_shows_all_of_it() -> None:
    whole = np.arange(1000.0).reshape(100, 10)
    x = whole[3]
    (base,) = inspector.inspect(x).buffer.holders
    assert (base.name, base.shown_by, base.shape) == ("ndarray", "whole", (100, 10))


def test_a_library_may_be_named_alone() -> None:
    assert [one.consumer for one in inspector.conversions([1], to="bytes").rows] == ["bytes"]


def test_only_a_snapshot_is_taken_from_a_snapshot() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        inspector.snapshot() - 3
