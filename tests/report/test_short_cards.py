"""A card fits a terminal: at most 24 lines of 80 columns for any object, its answers first."""

# SPDX-License-Identifier: MIT
import array
import collections
import ctypes
import datetime
import functools
import math
import mmap
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.report import Report

pytestmark = pytest.mark.quick

LINES, COLUMNS = 24, 80
OLD_WORDS = ("speaks", "of its own", "no gc header", " state ", "computed · heap", "wrapper", "container  ")


class Model:
    """An ordinary object."""

    def __init__(self) -> None:
        self.weights, self.name = np.ones(100_000), "m"

    def fit(self) -> None:
        """Do nothing."""


def closure() -> Any:
    held = np.ones(1000)
    return lambda: held


def arrays() -> dict[str, Any]:
    base = np.arange(1_000_000.0).reshape(1000, 1000)
    return {
        "owner": np.ones(10),
        "base": base,
        "strided": base[::2, ::3].T,
        "reversed": base[::-1],
        "wide": np.zeros((300, 300, 4), "i2"),
        "broadcast": np.broadcast_to(np.arange(4.0), (1000, 4)),
        "empty": np.empty((0, 3)),
        "scalar array": np.array(3.0),
        "scalar": np.float64(3.5),
        "objects": np.array(["a", None, [1]], dtype=object),
        "fields": np.zeros(5, [(f"field_{i}", "f8") for i in range(30)]),
        "text": np.array(["ab", "c"]),
        "dates": np.array(["2024-01-01"], "M8[D]"),
        "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        "reserved": np.zeros(30_000_000),
        "axes": np.zeros((1,) * 20),
    }


def builtins() -> dict[str, Any]:
    held = [1, 2, 3]
    return {
        "int": 7, "float": 2.5, "none": None, "text": "text" * 1000, "bytes": bytes(range(256)) * 9,
        "bytearray": bytearray(1000), "memoryview": memoryview(bytearray(1000))[10:20],
        "list": [held, held, list(range(1000))], "dict": {str(i): i for i in range(1000)},
        "set": set(range(1000)), "tuple": (1, "a", held), "array": array.array("d", range(1000)),
        "generator": (i for i in range(3)), "iterator": iter(held), "range": range(10**9),
        "closure": closure(),
        "instance": Model(), "bound method": Model().fit, "partial": functools.partial(max, 1, key=len),
        "class": Model, "type": np.ndarray, "module": math, "package": np, "builtin": len, "ufunc": np.add,
        "capsule": datetime.datetime_CAPI, "exception": ValueError("x" * 1000), "slice": slice(1, 2),  # type: ignore[attr-defined]
        "ctypes": (ctypes.c_double * 100)(), "pointer": ctypes.pointer(ctypes.c_int(3)),
        "deque": collections.deque(range(100)), "counter": collections.Counter("text"),
    }  # fmt: skip


def tables() -> dict[str, Any]:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"k": range(1000), "v": np.ones(1000), "s": ["x"] * 1000})
    wide = pandas.DataFrame({f"a column with a long name, number {i}": [i, None] for i in range(300)})
    return {
        "frame": frame, "wide frame": wide, "mixed": pandas.concat([wide] * 3), "series": frame["v"],
        "strings": frame["s"], "objects": pandas.Series([{}, []]), "category": frame["s"].astype("category"),
        "index": frame.index, "multi": frame.set_index(["k", "s"]).index,
        "from series": np.asarray(frame["v"]),
        "arrow array": arrow.array([1, None]), "arrow strings": arrow.array(["x"] * 1000),
        "arrow table": arrow.table({f"c{i}": range(10) for i in range(40)}),
        "chunked": arrow.chunked_array([[1], [2]]),
    }  # fmt: skip


def check(report: Report) -> None:
    drawn = str(report)
    lines = drawn.splitlines()
    assert len(lines) <= LINES, drawn
    assert max(map(len, lines)) <= COLUMNS, drawn
    assert not [word for word in OLD_WORDS if word in drawn], drawn
    assert not report.unanswered.get("answers"), report.unanswered
    told = report.answers.rows
    if told:
        first = told[0].text.replace("`", "")
        assert " ".join(lines[1:5]).replace("  ", " ").split(first[:30])[0].count("\n") == 0
        assert first[:30] in " ".join(" ".join(lines[:6]).split()), drawn
        assert told[0].text.split("`")[0].strip() in report.to_html()
    whole = str(report.drawn(everything=True))
    assert "refs" in whole and "type" in whole and "object" in whole


@pytest.mark.parametrize("samples", [arrays, builtins, tables])
def test_it_has_at_most_24_lines(samples: Any) -> None:
    for name, x in samples().items():
        check(inspector.inspect(x, name=name))


@pytest.fixture
def mapped(tmp_path: Path) -> Iterator[dict[str, Any]]:
    path = tmp_path / "a file with a long name.bin"
    path.write_bytes(bytes(80_000))
    shared = shared_memory.SharedMemory(create=True, size=10_000)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as plain:
        yield {
            "mmap": plain,
            "read": np.memmap(path, "f8", mode="r"),
            "write": np.memmap(path, "f8", mode="r+"),
            "own": np.memmap(path, "f8", mode="c"),
            "shared": shared,
            "file": file,
        }
    shared.close()
    shared.unlink()


def test_mapped_files_and_shared_memory(mapped: dict[str, Any]) -> None:
    for name, x in mapped.items():
        check(inspector.inspect(x, name=name))
    del x


def test_lazy_vectors_and_cffi() -> None:
    lazy = inspector.lazy.arange(1_000_000)
    check(inspector.inspect(lazy, name="lazy"))
    ffi = pytest.importorskip("cffi").FFI()
    check(inspector.inspect(ffi.new("int[10]"), name="data"))


def test_the_order_of_a_card_is_name_answers_rows_fold() -> None:
    a = np.arange(1_000_000.0).reshape(1000, 1000)
    b = a[::2, ::3].T
    lines = str(inspector.inspect(b)).splitlines()
    assert lines[0].split() == ["b", "ndarray", "float64", "(334,", "500)"]
    assert lines[1] == " A view of a: every 2nd row and every 3rd column, transposed."
    assert " ".join(" ".join(lines[2:4]).split()) == (
        "Writing to b changes a. While b lives, all 8.0 MB of a stay; b.copy() would keep 1.3 MB."
    )
    assert [line.split("  ")[0].strip() for line in lines[4:] if line[1] != " "] == [
        "held by", "memory", "layout", "values", "to C code", "more",
    ]  # fmt: skip


def test_repr_begins_with_the_answer() -> None:
    x = np.ones(10)
    assert repr(inspector.inspect(x)) == "<Report x: Owns its 80 B.>"
    assert repr(inspector.inspect(7, name="x")).startswith("<Report x: answers, object, refs")


def test_all_found_is_said_only_where_it_is_known() -> None:
    x = np.ones(10)
    report = inspector.inspect(x)
    open_ = replace(report.refs.owners, unnamed=inspector.Unknown("supposed"))
    drawn = str(Report("x", {**report.facts, "refs": replace(report.refs, owners=open_)}))
    assert "all found" in str(report).splitlines()[2]
    assert "not known whether all: --owners" in drawn.splitlines()[2] and "all found" not in drawn


@pytest.mark.parametrize("name", ["b", "blob_of_bytes"])
@pytest.mark.parametrize("x", [bytearray(500), b"abc" * 99, [1] * 999, "é" * 999], ids=type)
def test_name_type_and_value_are_one_line(name: str, x: object) -> None:
    first = str(inspector.inspect(x, name=name)).splitlines()[0]
    assert first.startswith(f" {name} ") and first.endswith("…") and len(first) <= COLUMNS
