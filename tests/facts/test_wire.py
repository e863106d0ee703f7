"""Every fact class goes to JSON and back as it was; what is damaged is refused in one sentence."""

# SPDX-License-Identifier: MIT
import dataclasses
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refused import refused
from soak import rounds
from supposed import facts

import inspector.facts
from inspector.errors import InspectorError
from inspector.facts.columns import COLUMNS, fact_class
from inspector.facts.refs import Refs
from inspector.facts.schema import report_schema
from inspector.facts.unknown import Immortal, Unknown
from inspector.facts.wire import SCHEMA, from_wire, to_wire
from inspector.report import Report, from_text

pytestmark = [pytest.mark.core, pytest.mark.quick]


def fact_classes() -> list[type]:
    modules = [module.name for module in pkgutil.iter_modules(inspector.facts.__path__)]
    found = {
        value
        for name in modules
        for value in vars(importlib.import_module(f"inspector.facts.{name}")).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    }
    return sorted(found, key=lambda fact: fact.__name__)


def test_no_two_facts_share_a_name() -> None:
    """The schema has one definition a name."""
    names = [fact.__name__ for fact in fact_classes()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_every_fact_class_is_frozen_and_slotted() -> None:
    loose = [
        c.__name__ for c in fact_classes() if not c.__dataclass_params__.frozen or "__slots__" not in vars(c)
    ]
    assert loose == []


@pytest.mark.parametrize("fact", [c for c in fact_classes() if c is not Unknown], ids=lambda c: c.__name__)
def test_a_fact_comes_back_as_it_was(fact: type) -> None:
    @settings(max_examples=rounds(25, 250), deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts(fact))
    def round_trip(value: Any) -> None:
        assert from_wire(fact, json.loads(json.dumps(to_wire(value)))) == value

    round_trip()


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "schema" / f"report-{SCHEMA}.json"
    run = "run: python -m inspector.facts.schema > docs/schema/report-2.json"
    assert json.loads(page.read_text(encoding="utf-8")) == report_schema(), run


@pytest.mark.parametrize("column", COLUMNS)
def test_a_report_of_any_column_fits_the_schema_and_comes_back(
    column: str, validator: jsonschema.Draft202012Validator
) -> None:
    @settings(max_examples=rounds(15, 150), deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts(fact_class(column)) | st.builds(Unknown, st.text(min_size=1)))
    def fits(value: Any) -> None:
        report = Report("x", {column: value})
        validator.validate(report.to_wire())
        assert from_text(report.to_json(), "memory") == report

    fits()


def test_immortal_and_unknown_have_their_own_forms() -> None:
    refs = {"references": "immortal", "weakrefs": {"unknown": "the type cannot have any"}}
    owners = {
        "references": 3,
        "owners": [],
        "unnamed": 0,
        "native": {"unknown": "not asked"},
        "unstored": {"unknown": "not asked"},
        "scan": {"unknown": "not asked"},
        "searchable_bytes": 7,
        "notes": [],
        "estimated_ns": {"unknown": "not measured yet"},
    }
    read = from_wire(Refs, {**refs, "owners": owners})
    assert read.references is Immortal
    assert read.weakrefs == Unknown("the type cannot have any")
    assert to_wire(read) == {**refs, "owners": owners}


def damaged() -> list[Any]:
    good = {"schema": SCHEMA, "kind": "report", "name": "x", "facts": {}}
    chain = {"found": True, "owners": [], "searched": "all"}
    row = {"objects": 1, "retained_bytes": 2, "by_type": [["a", 1]]}
    changes: list[dict[str, Any]] = [
        {"schema": "1"},
        {"schema": True},
        {"kind": "trace"},
        {"name": 7},
        {"facts": []},
        {"facts": {"nonsense": {}}},
        {"facts": {"chain": {**chain, "found": 1}}},
        {"facts": {"chain": {**chain, "found": {"unknown": "no"}}}},
        {"facts": {"chain": {"found": True}}},
        {"facts": {"retained": row}},
        {"facts": {"object": {"unknown": 3}}},
        {"facts": {"object": None}},
    ]
    cut = json.dumps({**good, "facts": {"retained": {"objects": 1}}})[:-4]
    return ["", "{", "[]", "null", "[" * 100_000, "{}", *(json.dumps(good | one) for one in changes), cut]


@pytest.mark.parametrize("text", damaged(), ids=lambda text: text[:60])
def test_a_damaged_report_is_refused_in_one_sentence(text: str) -> None:
    with refused("bad-report") as caught:
        from_text(text, "x.json")
    assert "x.json" in caught.value.what and caught.value.why


@pytest.mark.parametrize(("schema", "slug"), [(99, "newer-report"), (1, "older-report")])
def test_another_schema_is_refused_by_name(schema: int, slug: str) -> None:
    with pytest.raises(InspectorError, match=f"schema {schema}") as caught:
        from_text(json.dumps({"schema": schema, "kind": "report", "name": "x", "facts": {}}), "x.json")
    assert caught.value.slug == slug


def test_a_report_from_before_a_field_came_is_read() -> None:
    """A field with a default may be missing; one without may not."""
    from inspector.facts.conversion import Seen

    seen = Seen("numpy", 3, {"slot": 2}, 4, 5)
    wire = to_wire(seen)
    del wire["pointers_hooked"], wire["pointers_changed"]
    assert from_wire(Seen, wire) == seen
    del wire["imports"]
    with pytest.raises(InspectorError, match="Seen has no imports"):
        from_wire(Seen, wire)
