"""A long run: every record in a stream, one call of N in a sample, and what is refused."""

# SPDX-License-Identifier: MIT
import os
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from apart import printed
from refused import refused
from threads import at_once

import inspector
from inspector import _native
from inspector.errors import InspectorWarning
from inspector.tracing.record import recorder, streamed

pytestmark = [pytest.mark.core, pytest.mark.quick]
ROWS = [float(i) for i in range(1_000)]


@pytest.fixture
def small_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a ring cannot hold takes no half million records."""
    monkeypatch.setattr(recorder, "CAPACITY", 1 << 12)


def times(trace: Any, name: str = "numpy.array") -> int:
    return sum(call.times for call in trace.calls if call.name == name)


def work(rounds: int) -> None:
    for _ in range(rounds):
        np.array(ROWS)


@pytest.mark.usefixtures("small_rings")
def test_a_stream_keeps_what_a_ring_drops(tmp_path: Any) -> None:
    with inspector.trace("numpy", keep=tmp_path) as ring:
        work(20)
    with inspector.trace("numpy", mode="stream") as stream:
        for _ in range(20):  # a reader on a loaded machine is behind: what has no room would be dropped
            work(1)
            while any(row[-1] for row in _native.ring_read()):
                time.sleep(0.001)
    assert ring.dropped > 0
    assert (stream.dropped, times(stream)) == (0, 20)
    floats = [one for one in stream.conversions if one.function == "PyNumber_Float"]
    assert sum(one.times for one in floats) == 20_000


@pytest.mark.usefixtures("small_rings")
def test_what_each_thread_drops_is_counted(tmp_path: Any) -> None:
    def dropped(threads: int) -> int:
        with inspector.trace("numpy", keep=tmp_path) as trace:
            at_once(*[lambda: work(20)] * threads)
        return trace.dropped

    one, two = dropped(1), dropped(2)
    assert one > 0 and two == 2 * one


def test_each_thread_of_a_stream_has_its_own_calls() -> None:
    all_alive = threading.Barrier(3)  # else an ident is given again

    def body(rounds: int) -> None:
        work(rounds)
        all_alive.wait()

    with inspector.trace("numpy", mode="stream") as trace:
        at_once(*(lambda n=n: body(n) for n in (1, 2, 3)))  # type: ignore[misc]
    table = trace.table()
    calls = Counter(table["thread"][table["name"] == "numpy.array"].tolist())
    assert (sorted(calls.values()), trace.dropped) == ([1, 2, 3], 0)


@pytest.mark.usefixtures("small_rings")
def test_a_stream_that_the_disk_does_not_take_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed.os, "dup", lambda number: os.open("/dev/full", os.O_WRONLY))
    with pytest.warns(InspectorWarning, match="No space left on device"):  # noqa: SIM117
        with inspector.trace("numpy", mode="stream") as trace:
            work(20)
    assert trace.dropped > 0 and len(trace.table()["kind"]) == 1 << 12


def test_a_sample_is_one_call_of_n_with_all_that_it_called(tmp_path: Any) -> None:
    with inspector.trace("numpy", mode="sample", every=10, out=tmp_path / "a.trace") as trace:
        work(100)
    assert (times(trace), trace.fact.calls_skipped, trace.dropped) == (10, 90, 0)
    floats = [one for one in trace.conversions if one.function == "PyNumber_Float"]
    assert sum(one.times for one in floats) == 10_000
    assert {copy.verdict for copy in trace.copies} == {"copied"}
    assert sum(copy.times for copy in trace.copies) == 10
    assert "90 calls from Python left out" in str(trace)
    loaded: Any = inspector.load(tmp_path / "a.trace")
    assert loaded.fact == trace.fact and loaded.fact.calls_skipped == 90


def test_a_sample_of_calls_that_raise_or_call_back() -> None:
    def mean(row: Any) -> float:
        return float(np.add.reduce(row))

    with inspector.trace("numpy", mode="sample", every=3) as trace:
        for _ in range(30):
            with pytest.raises(ValueError, match="could not convert"):
                np.array(["x"], dtype=float)
        for _ in range(30):
            np.apply_along_axis(mean, 0, np.ones((2, 2)))
    assert times(trace) + trace.fact.calls_skipped >= 40
    failed = sum(call.failed for call in trace.calls if call.name == "numpy.array")
    assert failed == 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "rings"}, "mode is 'rings'"),
        ({"grade": "records"}, "grade is 'records'"),
        ({"mode": "sample", "every": 0}, "every is 0"),
        ({"mode": "sample", "every": 1.5}, "every is 1.5"),
        ({"mode": "stream", "keep": "/tmp"}, "two files for the same records"),
    ],
)
def test_a_mode_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with refused("bad-option", said):
        inspector.trace("numpy", **options)


def test_a_folder_that_takes_no_file(tmp_path: Any) -> None:
    with refused("unwritable-file"), inspector.trace("numpy", mode="stream", out=tmp_path / "a/b"):
        pass
    with inspector.trace("numpy") as trace:  # nothing was left armed, and the turn was given back
        work(1)
    assert times(trace) == 1


def test_a_folder_without_room_for_its_files(tmp_path: Any) -> None:
    """A journal has its whole room from the beginning: a limit on the size of files is as a full disk."""
    code = """
import resource, signal, sys
import numpy as np, inspector, inspector.errors
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    with inspector.trace("numpy", keep=sys.argv[1]):
        pass
except inspector.errors.InspectorError as error:
    print(error.slug, str(error).splitlines()[0])
with inspector.trace("numpy") as t:
    np.ones(1000).copy()
print(len(t.copies))
"""
    told, copies = printed("-c", code, tmp_path).splitlines()
    assert told.startswith("unwritable-file cannot write ") and copies == "1"
