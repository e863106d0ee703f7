"""A report: facts only, saved and read anywhere, shown in every form."""

# SPDX-License-Identifier: MIT
import gc
import json
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

import inspector
from inspector.facts.unknown import Unknown
from inspector.report import MIME, Report

pytestmark = [pytest.mark.core, pytest.mark.quick]


class Thing:
    """An ordinary object."""


def test_a_report_does_not_keep_its_object_alive() -> None:
    thing = Thing()
    watch = weakref.ref(thing)
    report = inspector.inspect(thing)
    forms = report._repr_mimebundle_(), str(report), report.to_svg(), report.to_json()
    del thing
    assert watch() is None
    assert all(forms)


def test_columns_are_attributes_and_absent_ones_unknown() -> None:
    report = inspector.inspect([1])
    assert report.object is report.facts["object"]
    assert isinstance(report.heap, Unknown)
    assert "object" in dir(report)
    with pytest.raises(AttributeError, match="nonsense"):
        report.nonsense


def test_a_report_is_saved_and_loaded(tmp_path: Path) -> None:
    report = inspector.inspect({"a": [1, 2]}, name="d")
    report.save(tmp_path / "d.json")
    again = inspector.load(tmp_path / "d.json")
    assert again == report
    assert str(again) == str(report)
    assert again != inspector.inspect([1], name="d")


def test_a_notebook_gets_text_html_and_json() -> None:
    bundle = inspector.inspect([1, 2], name="rows")._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "text/html", MIME}
    assert bundle["text/plain"].startswith(" rows     list")
    assert bundle[MIME]["kind"] == "report"
    json.dumps(bundle[MIME])


def test_a_large_reports_facts_are_no_part_of_a_notebook_unless_all_are_asked_for() -> None:
    report = inspector.inspect([1], name="rows")
    report.facts["object"] = replace(report.object, type_name="x" * 100_000)
    assert set(report._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert set(report.drawn(everything=True)._repr_mimebundle_()) == {"text/plain", "text/html", MIME}


def test_drawn_changes_the_drawing_and_not_the_facts() -> None:
    report = inspector.inspect([1, 2])
    narrow = report.drawn(width=30, verbose=True)
    assert narrow == report
    assert max(map(len, str(narrow).splitlines())) <= 30


def test_a_failing_view_costs_its_own_lines() -> None:
    fine = inspector.inspect([1, 2], name="rows")
    broken = Report("rows", {**fine.facts, "chain": object()})
    assert "? it could not be drawn: TypeError in its view" in str(broken)
    assert " rows     list" in str(broken)


def test_a_saved_report_draws_where_the_extension_is_missing(tmp_path: Path) -> None:
    report = inspector.inspect([1, 2], name="rows")
    report.save(tmp_path / "rows.json")
    code = (
        "import sys\n"
        "sys.modules['inspector._native'] = None  # import raises ImportError\n"
        "import inspector, rich.console\n"
        f"report = inspector.load({str(tmp_path / 'rows.json')!r})\n"
        "print(report, end=''); report.to_html(); report.to_svg()\n"
        "rich.console.Console(file=sys.stderr, width=80).print(report)\n"
        "assert not any(name.startswith('inspector.objects.probes') for name in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == str(report)
    assert ran.stderr == str(report)


def test_comparing_two_saved_reports_says_nothing_of_sharing() -> None:
    one, two = inspector.inspect([1, 2], name="one"), inspector.inspect([1, 2, 3], name="two")
    found = inspector.compare(one, two)
    assert isinstance(found.same_object, Unknown)
    assert ("object", "length", "2", "3") in {
        (change.column, change.field, change.left, change.right) for change in found.changes
    }
    assert inspector.compare(one, one).changes == ()


def test_no_reference_cycle_is_left_behind() -> None:
    rows = [1, 2]
    inspector.inspect(rows)
    gc.collect()
    inspector.inspect(rows)
    assert gc.collect() == 0


def test_rich_prints_it_as_wide_as_the_console() -> None:
    """The width that it was drawn with before is another's."""
    import io

    from rich.console import Console

    report = inspector.inspect([1] * 50, name="x").drawn(width=120)
    for width in (40, 100):
        console = Console(file=io.StringIO(), width=width)
        console.print(report)
        printed = [line.rstrip() for line in console.file.getvalue().splitlines()]
        assert printed == [line.rstrip() for line in str(report.drawn(width=width)).splitlines()]


def test_a_report_that_was_saved_on_another_processor_opens_here() -> None:
    report = inspector.load(Path(__file__).parent / "saved" / "aarch64.json")
    assert "A view of table: every 2nd row." in str(report)
    assert "all 160 kB of table stay" in str(report)
    assert report.to_svg() and Report.to_wire(report) == json.loads(report.to_json())
