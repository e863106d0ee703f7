"""Memory for speedscope and Perfetto: what their formats ask for, and totals that add up."""

# SPDX-License-Identifier: MIT
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from refused import refused

import inspector
from inspector.faces.cli import main
from inspector.facts.account import KINDS
from inspector.facts.growth import Growth, Moment
from inspector.facts.heap import Heap
from inspector.report import Report

PROFILE = {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
"""Required of a sampled profile by speedscope's file-format-spec.ts."""


@pytest.fixture(scope="module")
def grown() -> Report:
    with inspector.growth() as grew:
        kept = [bytearray(b"x") * 1_000_000 for _ in range(30)]
    assert kept
    return grew.report


def check(text: str) -> list[dict[str, Any]]:
    """The profiles, whose fields are those of the format and no others."""
    whole = json.loads(text)
    assert whole["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert whole.keys() == {"$schema", "name", "exporter", "shared", "profiles"}
    frames = whole["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and frame.keys() <= {"name", "file", "line", "col"}
        assert isinstance(frame.get("line", 1), int)
    for profile in whole["profiles"]:
        assert profile.keys() == PROFILE and (profile["type"], profile["unit"]) == ("sampled", "bytes")
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= at < len(frames) for sample in profile["samples"] for at in sample)
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
    return [profile | {"frames": frames} for profile in whole["profiles"]]


def test_speedscope_gets_growth_and_both_accounts(grown: Report) -> None:
    asked, before, after = check(grown.to_speedscope())
    assert asked["endValue"] == sum(row.bytes for row in grown.growth.sources) > 20_000_000
    first = asked["frames"][asked["samples"][0][0]]
    assert first["name"] == 'bytearray(b"x") * 1_000_000' and first["file"] == __file__
    for profile, account in zip((before, after), grown.growth.accounts, strict=True):
        assert profile["endValue"] == sum(row.resident_bytes for row in account.rows)
        assert profile["endValue"] == pytest.approx(account.resident_bytes, rel=0.01)


def test_speedscope_gets_an_account() -> None:
    account = inspector.memory()
    (profile,) = check(Report("memory", {"account": account}).to_speedscope())
    assert profile["endValue"] == pytest.approx(account.resident_bytes, rel=0.01)
    names = {profile["frames"][sample[0]]["name"] for sample in profile["samples"]}
    assert names == {KINDS[row.kind] for row in account.rows}


def test_perfetto_gets_counters_and_slices_within_each_other(grown: Report) -> None:
    growth: Growth = grown.growth
    events = json.loads(grown.to_perfetto())["traceEvents"]
    counters = defaultdict[float, int](int)
    for event in events:
        assert event["ph"] in "MCX" and {"pid", "name"} <= event.keys()
        if event["ph"] == "C":
            counters[event["ts"]] += event["args"]["bytes"]
    sums = [sum(row.resident_bytes for row in account.rows) for account in growth.accounts]
    assert [counters[at] for at in sorted(counters)] == sums
    by_track = defaultdict[int, list[tuple[int, int]]](list)
    for event in events:
        if event["ph"] == "X":
            by_track[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for rows in by_track.values():
        outer = [(a, b) for a, b in rows if not any(c <= a and b <= d and (c, d) != (a, b) for c, d in rows)]
        assert sum(b - a for a, b in set(outer)) == max(b for _, b in rows)
        assert not any(a < c < b < d for a, b in rows for c, d in rows)  # none is half inside another


def test_perfetto_gets_the_resident_set_over_time(grown: Report) -> None:
    moments = (Moment(0, 10, ""), Moment(2_000, 30, ""))
    values = [getattr(grown.growth, name) for name in Growth.__dataclass_fields__]
    values[list(Growth.__dataclass_fields__).index("moments")] = moments
    events = json.loads(Report("growth", {"growth": Growth(*values)}).to_perfetto())["traceEvents"]
    told = [(event["ts"], event["args"]["bytes"]) for event in events if event["name"] == "resident"]
    assert told == [(0, 10), (2, 30)]


def test_a_report_without_memory_is_refused() -> None:
    for export in (Report("x", {"heap": Heap(0, 0, (), 0)}).to_speedscope, Report("x", {}).to_perfetto):
        with refused("bad-option"):
            export()


def test_the_command_writes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "m.speedscope.json", tmp_path / "m.json"
    assert main(["memory", "--speedscope", str(one), "--perfetto", str(other)]) == 0
    assert check(one.read_text()) and json.loads(other.read_text())["traceEvents"]
    assert "This process holds" in capsys.readouterr().out
