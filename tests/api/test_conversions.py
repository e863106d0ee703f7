"""What would happen: previews beside the real conversion, rules beside it too, nothing changed here."""

# SPDX-License-Identifier: MIT
import array
import itertools
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from programs import inspector as command
from programs import python

import inspector
from inspector.facts.preview import Preview
from inspector.facts.unknown import Unknown
from inspector.objects.preview import consumers
from inspector.objects.preview.features import features
from inspector.report import from_text
from inspector.sessions import preview
from inspector.verdicts.rules import RULES, ruled
from inspector.views.preview import _row


def one(x: Any, to: str) -> Preview:
    (row,) = inspector.conversions(x, [to]).rows
    return row


MATRIX = np.arange(12.0).reshape(3, 4)
TRIED: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (MATRIX, "numpy", np.asarray),
    (MATRIX.T, "bytes", bytes),
    ([1.0, 2.0], "numpy", np.asarray),
    (np.arange(5), "pyarrow", pa.array),
    (np.arange(10)[::2], "pyarrow", pa.array),
    (bytearray(8), "numpy", np.asarray),
]


@pytest.mark.quick
def test_a_preview_cites_the_catalogue() -> None:
    rows = {row.consumer: row.catalogue for row in inspector.conversions(MATRIX, ["numpy", "pandas"]).rows}
    assert rows["numpy"].startswith("numpy ") and rows["numpy"].endswith(": np.asarray(x): same object")
    assert ": pd.DataFrame(x): " in rows["pandas"] and "copy" in rows["pandas"]
    assert one(np.arange(5), "pyarrow").catalogue.endswith(": pa.array(x): view")
    assert one([1.0, 2.0], "numpy").catalogue == ""


@pytest.mark.quick
@pytest.mark.parametrize(("x", "to", "call"), TRIED, ids=[f"{to}-{n}" for n, (_, to, _) in enumerate(TRIED)])
def test_a_preview_says_what_the_conversion_does(x: Any, to: str, call: Callable[[Any], Any]) -> None:
    """Found the other way here: whether a change of the source shows in the result."""
    row = one(x, to)
    if row.found == "by rule":
        assert isinstance(row.losses, Unknown)  # another thread ran: it could not be forked
        return
    made = np.asarray(call(x)) if to != "bytes" else np.frombuffer(call(x), x.dtype)
    shares = np.may_share_memory(made, np.asarray(x)) if not isinstance(x, list) else False
    assert row.copies is (not shares) and row.found == "tried", row
    assert row.copied_bytes == (0 if shares else made.nbytes)
    assert not row.fails
    if to != "bytes":
        assert (row.losses, row.loses) == (0, ())


def test_what_is_lost_is_counted_and_shown() -> None:
    row = one(pa.array([1, None, 2**53 + 1]), "numpy")
    if row.found == "tried":  # else another thread runs: it could not be forked
        assert row.losses == 2 and row.loses[0] == "None → nan"


@pytest.mark.parametrize(
    ("x", "losses"),
    [
        (pd.Series([2**53 + 1, None], dtype="Int64"), None),
        (pd.Series([True, None], dtype="boolean"), 0),
        (np.array([np.float64(1.5), np.datetime64("NaT", "s"), float("nan")], object), 0),
        ([np.ones(2), 3], None),
        ({"a": 1}, None),
        ("text", None),
        (None, None),
        (np.array(3.5), 0),
    ],
    ids=repr,
)
def test_what_is_hard_to_compare_is_no_failure_of_ours(x: Any, losses: int | None) -> None:
    """Values that raise when they are compared, and what cannot be cut: each was an error of the child."""
    row = one(x, "numpy")
    if row.found == "tried" and not row.fails:
        assert row.losses == losses or (losses is None and isinstance(row.losses, int | Unknown))
    assert "it raised" not in str(row.copies)


def test_what_fails_and_what_materializes() -> None:
    row = one({1: 2}, "memoryview")
    assert row.fails or row.found == "not found"
    vector = inspector.lazy.arange(1000)
    row = one(vector, "numpy")
    if row.found == "tried":
        assert row.materializes and row.copies is False
    assert inspector.materialization(vector).state != row.materializes


def test_nothing_changes_here(fingerprint: Callable[[object], Any]) -> None:
    subjects = [inspector.lazy.arange(1000), np.arange(10)[::-1], [1, 2, 3], pd.Series([1.0, 2.0])]
    before = [(fingerprint(x), inspector.materialization(x).state) for x in subjects]
    modules = set(sys.modules)
    for x in subjects:
        inspector.conversions(x, ["numpy", "pyarrow"])
        preview.after(x, "x * 2", {"x": x})
    del x
    assert [(fingerprint(x), inspector.materialization(x).state) for x in subjects] == before
    assert not {name for name in set(sys.modules) - modules if not name.startswith("inspector")}


@pytest.mark.quick
def test_after_an_expression() -> None:
    y = np.arange(1000.0)[::-1]
    told = preview.after(y, "np.ascontiguousarray(y)", {"np": np, "y": y})
    if not isinstance(told.copies, Unknown):
        assert [(copy.copied_bytes, copy.verdict) for copy in told.copies] == [(8000, "copied")]
        assert "ZeroDivisionError" in preview.after(y, "1 / 0", {}).fails


SAMPLES: dict[str, list[Any]] = {
    "ndarray": [np.arange(4.0), np.arange(8)[::2], np.array([True, False]), np.array(["a"])],
    "bytearray": [bytearray(b"abcd")],
    "memoryview": [memoryview(b"abcd")],
    "array": [array.array("d", [1.0, 2.0])],
    "bytes": [b"abcd"],
    "list": [[1.0, 2.0]],
    "tuple": [(1.0, 2.0)],
    "Series": [pd.Series([1.0, 2.0]), pd.Series([1, 2])],
    "DataFrame": [pd.DataFrame(np.arange(6.0).reshape(3, 2)), pd.DataFrame({"x": [1, 2], "y": ["a", "b"]})],
    "Arrow array": [pa.array([1.0, 2.0])],
}
ELSEWHERE = ("torch", "polars", "jax")
"""Consumers of the rooms of the libraries only; so is a Tensor."""


@pytest.mark.parametrize("rule", [r for r in RULES if r.consumer not in ELSEWHERE and r.kinds != ("Tensor",)])
def test_each_rule_is_what_the_library_does(rule: Any) -> None:
    from inspector.objects.preview.trying import tried

    used = 0
    for x in itertools.chain(*(SAMPLES[kind] for kind in rule.kinds)):
        told = ruled(features(x), rule.consumer, "", "")
        if not rule.when(features(x)) or told.reason != rule.reason:
            continue
        real = tried(x, consumers.CONSUMERS[rule.consumer], features(x).is_table, lambda _: "", call_only)
        assert (real["copied"] > 0) is rule.copies, (x, real)
        used += 1
    assert used, "no sample meets it"


def call_only(call: Callable[[], Any]) -> list[tuple[str, str, int]]:
    call()
    return []


RULED = """
import importlib, json, sys, warnings
import numpy as np, inspector
from inspector.objects.preview.consumers import CONSUMERS
from inspector.objects.preview.features import features
from inspector.objects.preview.trying import tried
warnings.simplefilter("ignore")
library = importlib.import_module(sys.argv[1])
def traces(call): call(); return []
rows = []
for x, to in eval(sys.argv[2]):
    (told,) = inspector.conversions(x, [to]).rows
    real = tried(x, CONSUMERS[to], features(x).is_table, lambda _: "", traces)
    size = real.get("copied")
    said = told.copied_bytes if isinstance(told.copied_bytes, int) else size
    rows.append([told.found, told.fails, None if told.fails else told.copies,
                 None if "fails" in real else size > 0, said == size or "fails" in real])
print(json.dumps(rows))
"""


LOADED = [
    pytest.param(
        "torch",
        """[(np.arange(4.0), "torch"), (np.arange(8)[::2], "torch"), (np.arange(4)[::-1], "torch"),
        (np.array(["a"]), "torch"), ([1.0, 2.0], "torch"), ((1.0,), "torch"),
        (library.arange(4.0), "torch"), (library.arange(4.0), "numpy")]""",
        marks=pytest.mark.libraries,
    ),
    pytest.param(
        "polars",
        """[([1.0, 2.0], "polars"), ((1, 2), "polars"), (library.Series([1.0, 2.0]), "polars"),
        (library.DataFrame({"x": [1.0]}), "polars"), (np.arange(4.0), "polars"),
        (np.arange(4, dtype="i2"), "polars"), (np.frombuffer(bytes(64)), "polars"),
        (np.arange(8)[::2], "polars"), (np.arange(4)[::-1], "polars")]""",
        marks=pytest.mark.newest,
    ),
    pytest.param(
        "jax",
        """[([1.0, 2.0], "jax"), (np.arange(4.0), "jax"), (np.arange(4, dtype="f4"), "jax"),
        (np.arange(8)[::2], "jax"), (np.zeros((2, 3), "u1"), "jax"), (np.array([True]), "jax"),
        (np.arange(4) * 1j, "jax"), (np.array(["a"]), "jax"), (np.arange(4, dtype=">f8"), "jax"),
        (np.array([None]), "jax"), (np.array(["2020"], "M8[ns]"), "jax")]""",
        marks=pytest.mark.newest,
    ),
]


@pytest.mark.parametrize(("library", "cases"), LOADED, ids=["torch", "polars", "jax"])
def test_where_a_library_is_loaded_rules_answer_and_are_right(library: str, cases: str) -> None:
    rows = json.loads(python(RULED, library, cases))
    for found, fails, copies, real, is_size in rows:
        assert found == "by rule" and copies == real and fails == (real is None) and is_size, rows


ENDLESS = """
import json, time
import inspector
from inspector.sessions import preview
import numpy as np
class Slow:
    def __array__(self, *given, **named):
        while True:
            pass
class Huge:
    def __array__(self, *given, **named):
        return np.ones(1 << 30)
preview.MEMORY_BYTES = 1 << 30
began = time.monotonic()
(slow,) = inspector.conversions(Slow(), ["numpy"]).rows
took = time.monotonic() - began
(huge,) = inspector.conversions(Huge(), ["numpy"]).rows
after = preview.after(np.ones(3), "Slow().__array__()", {"Slow": Slow})
told = [slow.found, str(slow.copies), took, huge.found, huge.fails, huge.reason, str(after.copies)]
print(json.dumps(told))
"""


def test_a_conversion_has_two_seconds_and_so_much_memory() -> None:
    """In a process of its own, which has one thread: it can fork. Nothing is said of what was not found."""
    told = json.loads(python(ENDLESS, OPENBLAS_NUM_THREADS="1"))
    slow, said, took, huge, fails, why, after = told
    assert slow == "not found" and "longer than 2 s" in said and took >= 2
    assert huge == "tried" and fails and "MemoryError" in why, (huge, fails, why)
    assert "longer than 2 s" in after


def test_the_terminal() -> None:
    ran = command("show", "[1.0, 2.0]", "--to", "numpy", "bytes", "--json", OPENBLAS_NUM_THREADS="1")
    assert ran.returncode == 0, ran.stderr
    rows = from_text(ran.stdout, "stdout").previews.rows
    assert [(row.consumer, row.copies, row.copied_bytes, row.fails) for row in rows[:1]] == [
        ("numpy", True, 16, False)
    ]
    assert rows[1].fails
    after = ("--after", "numpy.arange(10.).copy()")
    ran = command("show", "numpy.arange(1000.)[::2]", *after, OPENBLAS_NUM_THREADS="1")
    assert "would copy 80 B" in ran.stdout, ran.stdout


def test_a_conversion_that_was_not_tried_says_why() -> None:
    why = Unknown("not tried: it raised ModuleNotFoundError")
    told = Preview("torch", "torch.as_tensor", False, 0, why, why, "", "", "", False, "by rule")
    lines = [span.text for line in _row(told) for span in line.spans]
    assert "no: it raised ModuleNotFoundError" in lines
