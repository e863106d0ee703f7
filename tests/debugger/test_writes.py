"""Who wrote to these bytes: each write once, with its value and both stacks; and all is put back."""

# SPDX-License-Identifier: MIT
import os
import signal
import threading

import numpy as np
import pytest
import specimens
from refused import refused
from writers import WRITERS

from inspector.facts.wire import from_wire, to_wire
from inspector.facts.write import Writes
from inspector.objects.probes.machine import writes as probed
from inspector.sessions import running

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(probed().state != "ok", reason="cannot be installed: watchpoints of this machine"),
    pytest.mark.quick,
]


def words(count: int = 8) -> np.ndarray:  # type: ignore[type-arg]
    """int64 zeros at an address that 64 divides."""
    room = np.zeros(count + 8, dtype=np.int64)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + count]


def test_each_write_is_there_once_with_its_value_and_both_stacks() -> None:
    storing, x = specimens.build("writers", WRITERS), words()
    address = x.ctypes.data
    with running.writes(x[2:3]) as found:
        for value in (5, 6, 6):
            storing.store(address + 16, value)
        storing.store(address + 24, 9)
    assert [(one.before, one.after) for one in found] == [("0", "5"), ("5", "6"), ("6", "6")]
    assert (found.facts.counted, found.facts.silent, found.facts.watched_bytes) == (3, False, 8)
    assert from_wire(Writes, to_wire(found.facts)) == found.facts
    first = found.facts.writes[0].stack
    names = [frame.function for frame in first.frames if frame.kind == "native"]
    assert names[:2] == ["wide_store", "store"]
    here = next(frame for frame in first.frames if frame.kind == "python")
    assert here.function == "test_each_write_is_there_once_with_its_value_and_both_stacks"
    assert str(here.line).endswith(f"{__file__[-40:]}:{line_of('storing.store(address + 16')}")
    assert first.frames.index(here) > 1 and first.thread_id == threading.get_native_id()


def line_of(text: str) -> int:
    """The first line of this file that holds a text."""
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def test_threads_that_ran_before_and_that_begin_later_are_watched() -> None:
    storing, x = specimens.build("writers", WRITERS), words()
    go, done = threading.Event(), threading.Event()

    def early() -> None:
        go.wait(60)
        storing.storm(x.ctypes.data, 1, False)
        done.set()

    before = threading.Thread(target=early)
    before.start()
    with running.writes(x[:1]) as found:
        go.set()
        assert done.wait(60)
        later = threading.Thread(target=storing.store, args=(x.ctypes.data, 2))
        later.start()
        later.join()
    before.join()
    assert [one.after for one in found] == ["1", "2"]
    assert len({one.stack.thread_id for one in found} | {threading.get_native_id()}) == 3
    assert "early" in [frame.function.rpartition(".")[2] for frame in found.facts.writes[0].stack.frames]


def test_a_range_of_four_words_and_the_element_that_was_written() -> None:
    x = words()
    with running.writes(x[:4]) as found:
        x[3] = 7
        x[0] = 1
        x[4] = 2
    assert [(one.offset, one.after) for one in found] == [(24, "7"), (0, "1")]


def test_what_the_system_writes_is_noticed_by_comparison() -> None:
    x = words()
    reader, writer = os.pipe()
    os.write(writer, b"abcdefgh")
    with running.writes(x[:1]) as found:
        assert os.readv(reader, [x[:1]]) == 8
    os.close(reader)
    os.close(writer)
    assert (len(found), found.facts.silent) == (0, True)


Slotted = type("Slotted", (), {"__slots__": ("count",)})
Plain = type("Plain", (), {})


@pytest.mark.parametrize("kind", [Slotted, Plain])
def test_a_field_is_watched(kind: type) -> None:
    x = kind()
    x.count = marked = object()
    with running.writes(x, ".count") as found:
        x.count = None
    values = [(int(one.before, 16), int(one.after, 16)) for one in found]
    assert values[0][0] == id(marked) and values[-1][1] == id(None)
    with refused("nothing-to-watch"):
        running.writes(x, ".absent")


def test_a_refcount_is_watched() -> None:
    x = Plain()
    with running.writes(x, "refcount") as found:
        kept = [x, x]
    ups = [one for one in found if int(one.after) > int(one.before)]
    assert len(ups) >= 2 and found.facts.counted >= len(ups)
    del kept


def test_beyond_the_budget_writes_are_counted() -> None:
    x = words()
    with running.writes(x[:1], budget=10) as found:
        for value in range(1, 51):
            x[0] = value
    assert (len(found), found.facts.counted) == (10, 50)


def test_afterwards_nothing_is_watched_and_the_signal_is_whose_it_was() -> None:
    x, got = words(), []
    before = signal.signal(signal.SIGTRAP, lambda *_: got.append(1))
    try:
        with running.writes(x[:1]) as found:
            x[0] = 1
            signal.raise_signal(signal.SIGTRAP)
            with refused("watch-running"), running.writes(x[1:2]):
                pass
        x[0] = 2
        assert (len(found), got) == (1, [1])
        with running.writes(x[:1]) as again:
            x[0] = 3
        assert [one.before for one in again] == ["2"]
    finally:
        signal.signal(signal.SIGTRAP, before)


def test_an_object_without_bytes_is_refused() -> None:
    for words, slug in (((), "nothing-to-watch"), (("length",), "bad-option")):
        with refused(slug):
            running.writes({}, *words)
