"""Without the GIL: the bytes of objects, who shares them, which names hold them, while other threads run."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import collections
import ctypes
import io
import sys
import sysconfig
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest
from threads import busy

import inspector
from inspector.api import namespace

pytestmark = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="not on CPython with the GIL"
)
ROUNDS = 4


class Slotted:
    __slots__ = ("kept",)


class Plain:
    pass


def said(x: Any, **asked: Any) -> str:
    return " ".join(str(inspector.inspect(x, **asked)).split())


def test_a_view_and_its_base() -> None:
    base = numpy.arange(1_000_000.0)
    view = base[10:20]
    found = inspector.inspect(view).facts["buffer"]
    assert (found.range.start, found.logical_bytes, found.owns) == (view.ctypes.data, 80, False)
    assert [holder.address for holder in found.holders] == [id(base)]
    shared = inspector.compare(view, base).sharing
    assert (shared.overlap, shared.overlap_bytes) == (True, 80)
    assert inspector.shares(view, base[20:]).overlap is False
    assert [one.slug for one in inspector.findings(view)] == ["large-base"]
    told = inspector.materialization(base)
    assert (told.state, told.logical_bytes, told.resident_bytes) == ("owned", 8_000_000, 8_000_000)


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda: b"ab" * 50, 100),
        (lambda: bytearray(100), 100),
        (lambda: memoryview(bytearray(100))[10:20], 10),
        (lambda: (ctypes.c_double * 4)(), 32),
        (lambda: numpy.zeros((3, 4), "f4").T, 48),
    ],
)
def test_bytes_lie_where_the_buffer_protocol_says(make: Callable[[], Any], count: int) -> None:
    x = make()
    found = inspector.inspect(x).facts["buffer"]
    assert (found.logical_bytes, found.range.start) == (count, numpy.asarray(memoryview(x)).ctypes.data)


def test_a_frame_and_its_columns() -> None:
    pandas = pytest.importorskip("pandas", reason="cannot be installed: no wheel of pandas here")
    frame = pandas.DataFrame({"a": range(100), "b": numpy.arange(100.0)})
    report = inspector.inspect(frame)
    assert [row.name for row in report.facts["parts"].parts] == ["a", "b"]
    shared = inspector.compare(frame, frame["b"].to_numpy()).sharing
    assert (shared.overlap, shared.overlap_bytes) == (True, 800)


def test_all_that_shows_the_same_bytes() -> None:
    base = numpy.arange(1000.0)
    hidden = {"a": [(base[10:20],)]}
    lent = memoryview(base)
    found = inspector.aliases(base)
    assert sorted(row.common_bytes for row in found.rows) == [80, 8000, 8000], (hidden, lent)


def test_states() -> None:
    started = (i for i in "ab")
    next(started)
    content = bytes(1000)
    file = io.BytesIO(content)
    assert inspector.materialization(started).state == "lazy"
    assert "cow" in {layer.title for layer in inspector.materialization(file).layers}
    list(started)
    assert inspector.materialization(started).state == "consumed"


def test_every_reference_is_named() -> None:
    x, plain, slotted = numpy.zeros(100), Plain(), Slotted()
    plain.kept = slotted.kept = x  # type: ignore[attr-defined]
    hidden = {"a": [{"deep": (x,)}]}
    call = partial(print, x)
    found = inspector.owners(x, scan=True)
    assert found.references == inspector.refcount(x) == 5, (hidden, call)
    told = sorted((one.kind, one.key) for one in found.owners)
    assert told == [
        ("attribute", ".kept"),
        ("item", "[0]"),
        ("item", "[0]"),
        ("local", "x"),
        ("slot", ".kept"),
    ]
    assert found.unnamed == 0 and all(one.certain for one in found.owners)


def test_an_attribute_of_an_instance_with_a_dict_is_named_once() -> None:
    x, plain = numpy.zeros(100), Plain()
    vars(plain)["kept"] = x
    found = inspector.owners(x, scan=True)
    assert sorted((one.kind, one.key) for one in found.owners) == [("attribute", ".kept"), ("local", "x")]
    assert (found.references, found.unnamed) == (2, 0)


def test_a_variable_of_another_thread_is_not_named() -> None:
    x, ready, over = numpy.zeros(100), threading.Event(), threading.Event()

    def hold(other: Any) -> None:
        ready.set()
        over.wait()

    thread = threading.Thread(target=hold, args=(x,))
    thread.start()
    ready.wait()
    found = inspector.owners(x, scan=True)
    over.set()
    thread.join()
    assert found.references == 1 + found.unnamed + sum(one.kind == "item" for one in found.owners)
    assert found.unnamed >= 1


def test_names_share_bytes() -> None:
    base = numpy.zeros(1000)
    names = {"base": base, "view": base[:10], "whole": [base], "number": 10**30, "f": test_states}
    fact = namespace(names)
    rows = {row.name: row for row in fact.rows}
    assert rows["base"].group == rows["view"].group == rows["whole"].group != 0
    assert rows["base"].references == inspector.refcount(base) and rows["view"].references == 1
    assert fact.complete and 8000 < fact.total_bytes < 9000


def test_a_walk_counts_what_sys_counts() -> None:
    texts, number = [str(n) * 3 for n in range(1000, 1100)], 10**20
    pair, queue = {"key": 2.5 * number}, collections.deque([number])
    made = [texts, pair, queue]
    every = (made, *made, *texts, *pair, *pair.values(), number)
    fact = namespace({"made": made, "again": texts})
    assert fact.total_bytes == sum(sys.getsizeof(x) for x in every if not sys._is_immortal(x))  # type: ignore[attr-defined]


def test_cards_while_threads_change_the_objects() -> None:
    x = numpy.zeros((100, 100))
    plain, names = Plain(), {"x": x}
    rows: list[Any] = [x]
    number = iter(range(1 << 60))

    def change() -> None:
        n = next(number)
        setattr(plain, f"a{n % 50}", x)
        plain.__dict__ = {"b": x} if n % 3 else {}
        names[f"n{n % 100}"] = x[: n % 100]
        names.pop(f"n{(n * 7) % 100}", None)
        rows[:] = [x] * (n % 9)

    def reshape() -> None:
        for shape in ((100, 100), (10_000,), (50, 200)):
            x.shape = shape

    with busy(change, change, lambda: x[::2].sum()) as raised:
        for _ in range(ROUNDS):
            found = inspector.owners(x, scan=True)
            assert found.references >= 2
            assert inspector.inspect(plain).facts["object"].type_name.endswith("Plain")
            assert inspector.inspect(rows).facts["object"].type_name == "list"
            assert inspector.compare(x, rows).same_object is False
            assert namespace(names).total_bytes >= x.nbytes
            assert "ndarray" in said(x)
    assert not raised
    if numpy.lib.NumpyVersion(numpy.__version__) < "2.5.0":  # later ones warn of it
        with busy(reshape):
            for _ in range(ROUNDS):
                assert inspector.inspect(x).facts["buffer"].logical_bytes >= 0
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


def test_eight_threads_draw_their_first_cards_at_once() -> None:
    """Adapters are loaded meanwhile."""
    start, drawn = threading.Barrier(8), list[str]()
    base = numpy.zeros(1000)

    def draw() -> None:
        start.wait()
        drawn.append(said(base[1:]))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(drawn) == 8 and all("8.0 kB of its ndarray" in one or "of base" in one for one in drawn), drawn
