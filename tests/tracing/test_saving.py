"""A saved trace opens as it was; a Perfetto file is what the format says; what is no trace is refused."""

# SPDX-License-Identifier: MIT
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refused import refused

import inspector
from inspector.errors import InspectorError
from inspector.tracing.ask import store
from inspector.tracing.events.decode import Events

pytestmark = pytest.mark.core


@pytest.fixture
def trace() -> Any:
    rows = [float(i) for i in range(20_000)]
    with inspector.trace("numpy") as t:
        np.array(rows).tolist()
    return t


@pytest.fixture
def path(trace: Any, tmp_path: Path) -> Path:
    """The file of the saved trace."""
    trace.save(tmp_path / "t.trace")
    return tmp_path / "t.trace"


def test_a_saved_trace_is_the_trace(trace: Any, path: Path) -> None:
    loaded = inspector.load(path)
    assert loaded.fact == trace.fact
    assert str(loaded) == str(trace)
    with pytest.raises(InspectorError), loaded:
        pass


def test_a_saved_trace_takes_some_bytes_a_record(trace: Any, path: Path) -> None:
    assert path.stat().st_size < 6 * len(trace.table()["kind"])


def form_1(events: Events) -> dict[str, Any]:
    """The columns as they were written before form 2."""
    columns: dict[str, Any] = {name: events.records[name] for name in events.records.dtype.names or ()}
    for name in ("start", "obj", "val", "aux"):
        columns[name] = np.diff(columns[name], prepend=columns[name].dtype.type(0))
    head = np.frombuffer(json.dumps(store.head_of(events)).encode(), np.uint8)
    return {"head": head, "thread": events.thread, "site": events.site, **columns}


@pytest.mark.parametrize("form", ["lzma", "zlib", "1"])
def test_every_form_gives_every_record_back(trace: Any, tmp_path: Path, form: str, monkeypatch: Any) -> None:
    path, events = tmp_path / "t.trace", trace._recorded()
    if form == "1":
        path = path.with_suffix(".npz")
        np.savez_compressed(path, **form_1(events))
    else:
        monkeypatch.setattr(store, "CODEC", store.LZMA if form == "lzma" else store.ZLIB)
        store.save(events, path)
    loaded = store.load(path)
    assert loaded.records.tobytes() == events.records.tobytes()
    assert np.array_equal(loaded.site, events.site) and np.array_equal(loaded.thread, events.thread)
    assert store.head_of(loaded) == store.head_of(events)


def test_columns_that_are_damaged_are_refused(path: Path) -> None:
    path = path.rename(path.with_suffix(".npz"))
    with np.load(path) as file:
        whole = dict(file)
    damaged = {"kind": b"none of lzma's", "head": whole["head"].tobytes()[:-9], "form": b"7"}
    for name, content in damaged.items():
        np.savez(path, **{**whole, name: np.frombuffer(content, np.uint8)})
        with refused("unreadable-trace"):
            inspector.load(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04 nothing", b"", b"{}", b"\x00" * 100])
def test_what_is_no_trace_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(InspectorError) as caught:
        inspector.load(path)
    assert caught.value.slug in ("unreadable-trace", "bad-report")


def test_a_place_that_cannot_be_written(trace: Any, tmp_path: Path) -> None:
    for write in (trace.save, trace.to_perfetto):
        with refused("unwritable-file"):
            write(tmp_path / "none" / "x")


def test_perfetto_reads_nested_events(trace: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    assert trace.to_perfetto(path) == 0
    events = json.loads(path.read_text())["traceEvents"]
    calls = [event for event in events if event["cat"] == "METHOD"]
    assert [call["name"] for call in calls] == ["numpy.array", "numpy.ndarray.tolist"]
    inside = [event for event in events if event["name"] == "PyFloat_FromDouble"]
    assert len(inside) == 20_000
    call = calls[1]
    assert all(call["ts"] <= e["ts"] and e["ts"] + e["dur"] <= call["ts"] + call["dur"] + 1 for e in inside)


def test_out_saves_when_the_block_ends_and_copies_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "out.trace"
    with inspector.trace("numpy", out=path, copies=False) as t:
        np.array([1.0, 2.0]).astype("f4")
    assert t.copies == () and t.calls
    assert inspector.load(path).calls == t.calls


def test_parquet_is_read_back_whole(trace: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="cannot be installed")
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    trace.save(path)
    loaded = inspector.load(path)
    assert loaded.fact == trace.fact
    mine, theirs = loaded._recorded(), trace._recorded()
    assert np.array_equal(mine.records, theirs.records) and np.array_equal(mine.site, theirs.site)
    table = pyarrow.parquet.read_table(path)
    assert table.num_rows == len(trace.table()["kind"])
    names = set(table["name"].to_pylist())
    assert {"numpy.array", "PyFloat_FromDouble"} <= names
    assert path.stat().st_size < 20 * table.num_rows
    arrow = trace.to_arrow()
    assert arrow["duration_ns"].to_pylist()[:50] == trace.table()["duration_ns"].astype(int).tolist()[:50]
    path.write_bytes(path.read_bytes()[:-40])
    with refused("unreadable-trace"):
        inspector.load(path)


def test_without_pyarrow_one_sentence(trace: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refused("no-pyarrow"):
        trace.to_parquet(tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())
