"""The namespace table: who shares bytes with whom, each byte once, nothing disturbed, no user code."""

# SPDX-License-Identifier: MIT
import gc
import importlib
import re
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import inspector
from inspector._native import Subject
from inspector.adapters.base import Elements
from inspector.api import namespace
from inspector.facts.namespace import Row
from inspector.objects.reach import globals, kept
from inspector.objects.reach.reached import Reached

pytestmark = [pytest.mark.core, pytest.mark.quick]


def rows(names: dict[str, Any], **options: Any) -> dict[str, Row]:
    return {row.name: row for row in namespace(names, **options).rows}


def test_a_view_is_in_the_group_of_its_owner() -> None:
    big = np.zeros(1000)
    found = rows({"alone": np.zeros(9), "x": big[2:14].reshape(3, 4).T, "big": big})
    assert [*found] == ["big", "x", "alone"]
    assert [row.group for row in found.values()] == [1, 1, 0]
    assert [row.state for row in found.values()] == ["owned", "view", "owned"]
    assert [row.bytes for row in found.values()] == [8000, 96, 72]
    assert found["x"].shares == "of big"
    assert found["x"].type_name == "ndarray f8"


def test_every_byte_is_counted_once() -> None:
    big = np.zeros(1000)
    assert namespace({"a": big, "b": big[:600], "c": big[400:], "d": big}).total_bytes == 8000
    assert namespace({"b": big[:600], "c": big[400:]}).total_bytes == 8000
    assert namespace({"b": big[:500], "c": big[500:]}).total_bytes == 8000
    assert namespace({"even": big[::2]}).total_bytes == 4000
    assert namespace({"even": big[::2], "half": big[:500]}).total_bytes == 6000
    assert namespace({"wide": np.broadcast_to(big[:1], (10**6,))}).total_bytes == 8


def test_neighbours_and_interleaved_views_are_apart_unless_a_name_covers_both() -> None:
    big = np.zeros(1000)
    assert [row.group for row in namespace({"b": big[:500], "c": big[500:]}).rows] == [0, 0]
    assert [row.group for row in namespace({"even": big[::2], "odd": big[1::2]}).rows] == [0, 0]
    assert [row.group for row in namespace({"even": big[::2], "odd": big[1::2], "all": big}).rows] == [1] * 3


def test_two_names_of_one_object_are_joined_but_not_two_of_a_number() -> None:
    held = {"k": 1}
    found = rows({"one": held, "two": held, "five": 10**9, "cinq": 10**9})
    assert found["one"].group == found["two"].group == 1
    assert found["two"].shares == "is one"
    assert found["five"].group == found["cinq"].group == 0


def test_arrays_inside_an_object_count_for_it() -> None:
    class Model:
        def __init__(self, weights: Any) -> None:
            self.layers = [{"weights": weights}]

    weights = np.zeros(1000)
    found = rows({"model": Model(weights[::2]), "weights": weights})
    assert found["model"].state == "holds 1 array"
    assert found["model"].bytes > 4000
    assert found["model"].shares == "holds weights"
    assert namespace({"model": Model(weights), "weights": weights}).total_bytes < 8900


def test_an_object_that_refers_to_the_namespace_is_not_charged_for_it() -> None:
    class Shell:
        pass

    names: dict[str, Any] = {"big": np.zeros(1000), "shell": Shell()}
    names["shell"].names = names
    assert rows(names)["shell"].state == ""


def test_the_light_and_the_modules_are_counted_not_shown() -> None:
    names: dict[str, Any] = {f"n{i}": [0] * i for i in range(50)} | {"sys": sys, "f": rows, "Row": Row}
    fact = namespace(names, limit=10)
    assert [row.name for row in fact.rows] == [f"n{i}" for i in range(49, 39, -1)]
    assert fact.left_out == 43
    assert namespace({"sys": sys, "x": 1}).left_out == 1
    assert len(namespace(names, limit=None).rows) == 53


def test_nothing_is_disturbed(fingerprint: Any) -> None:
    class Own:
        __slots__ = ("__dict__", "__weakref__")

    big = np.zeros(1000)
    view = memoryview(bytearray(9))
    names = {"big": big, "part": big[3:], "view": view, "own": Own(), "rows": [big], "t": (1,), "s": {1}}
    before = {name: fingerprint(value) for name, value in names.items()}
    for _ in range(3):
        namespace(names)
    gc.collect()
    assert {name: fingerprint(value) for name, value in names.items()} == before


def test_no_user_code_is_run() -> None:
    ran = []

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            ran.append(name)
            return super().__getattribute__(name)

    class Evil(list, metaclass=Meta):
        def __getattribute__(self, name: str) -> Any:
            ran.append(name)
            return super().__getattribute__(name)

        def __len__(self) -> int:
            ran.append("len")
            return 1 << 60

        __sizeof__ = __hash__ = __eq__ = __repr__ = __iter__ = __len__  # type: ignore[assignment]

    evil = Evil([1, 2])
    ran.clear()
    found = namespace({"evil": evil, "same": evil, "kind": Evil}, limit=None)
    assert ran == []
    assert next(row.bytes for row in found.rows if row.name == "evil") < 1000


def test_ten_thousand_names_are_quick() -> None:
    big = np.zeros(20_000)
    for names in ({f"v{i}": big[i:] for i in range(10_000)}, {f"v{i}": [i] for i in range(10_000)}):
        begun = time.thread_time()  # its own work: the machine may be busy
        fact = namespace(names)
        assert time.thread_time() - begun < 3
        assert fact.left_out == 9_970
    assert fact.rows[0].group == 0


def test_what_containers_hold_is_counted_each_byte_once() -> None:
    big = np.zeros(100_000)
    found = namespace({"models": {"fold": [big, big[:9]]}, "again": [big], "n": [1.5] * 9})
    sizes = {row.name: row.bytes for row in found.rows}
    assert 800_000 < sizes["models"] < 802_000
    assert 800_000 < sizes["again"] < 801_000
    assert 800_000 < found.total_bytes < 803_000
    assert {row.name: row.state for row in found.rows}["models"] == "1 item"
    floats = namespace({"floats": list(map(float, range(1000)))})
    assert floats.total_bytes > 32_000, "the floats too, not only their pointers"


def test_what_a_view_keeps_beyond_itself_is_told() -> None:
    base = np.zeros(100_000)
    names = {"few": base[:10], "strided": np.ones(100_000)[::2]}
    del base
    found = namespace(names, history={})
    assert {(row.place, row.by): row.bytes for row in found.kept} == {
        ("few", "base"): 799_920,
        ("strided", "base"): 400_000,
    }
    assert found.total_bytes == 400_080
    assert found.answers[1].text == "`few` keeps 800 kB that no name shows; `few.copy()` would keep 80 B."
    assert found.kept_bytes == 1_199_920


def test_a_frame_whose_index_is_large_is_not_told_to_copy_itself() -> None:
    """The copy keeps the same index: `df.copy()` freed nothing of what it was told to free."""
    pd = pytest.importorskip("pandas")
    index = pd.MultiIndex.from_arrays([np.random.rand(9_000), np.random.rand(9_000)])
    frame = pd.DataFrame({"a": np.zeros(9_000)}, index=index)
    del index
    (answer,) = (one for one in namespace({"frame": frame}, history={}).answers if one.slug == "keeps-base")
    assert answer.text.endswith(" that no name shows: its index, or a larger frame that it shows a part of.")
    assert answer.do == ""


def test_history_keeps_only_what_no_name_shows() -> None:
    big, other = np.zeros(100_000), np.ones(50_000)
    found = namespace(
        {"big": big},
        history={"Out[1]": ([big], ""), "Out[2]": (other, "%reset out"), "Out[3]": (other[3:], "")},
    )
    assert [(row.place, row.bytes, row.do) for row in found.kept] == [("Out[2]", 400_000, "%reset out")]
    assert found.answers[1].text == "400 kB more are held by `Out[2]`: `%reset out` frees them."


def test_of_many_arrays_the_sum_counts_none_twice_and_says_that_there_is_more() -> None:
    """The bytes of those that are not asked for them are not known: a view's base is then counted once."""
    base = np.ones((20_000, 10))
    rows = list(base)
    found = namespace({"base": base, "rows": rows})
    assert not found.complete
    assert base.nbytes < found.total_bytes <= base.nbytes + sum(map(sys.getsizeof, (base, rows, *rows)))
    (said,) = (row.text for row in inspector.inspect(rows, name="rows").answers.rows if row.slug == "weight")
    assert re.fullmatch(r"More than 2\.\d MB in all: 20,00\d objects inside were counted\.", said), said


def test_history_frees_nothing_that_a_view_of_a_name_keeps_too() -> None:
    big = np.zeros(500_000)
    history = {"Out[1]": (big, "%reset out")}
    alone = namespace({}, history=history)
    assert "frees them" in alone.answers[0].text
    part = big[:10]
    del big
    found = namespace({"part": part, "rows": [part]}, history=history)
    (said,) = (row.text for row in found.answers if row.slug == "kept-by-history")
    assert said == "4.0 MB more are held by `Out[1]`, `part` and `rows`: they are free when all let go."


def test_globals_of_the_users_modules_are_counted_and_named(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(
        "import numpy as np\ntable = [np.ones(300_000)]\nclass Pool: cache = {'k': np.ones(200_000)}\n"
        "def unused(x=np.ones(100_000)): return x\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        store = importlib.import_module("store")
        patch.setattr(globals, "_modules", lambda: iter([("store", vars(store))]))  # without other tests'
        found = namespace({"part": store.table[0]}, history={}, modules=True)
    del sys.modules["store"]
    rows = {row.place: row.bytes for row in found.kept if row.by == "module"}
    assert 1_600_000 < rows["store.Pool.cache"] < 1_601_000
    assert "store.table" not in rows, "a name shows all of it"
    (said,) = (row.text for row in found.answers if row.slug == "kept-by-module")
    assert "`store.Pool.cache`" in said


def test_bytes_that_are_counted_once_and_who_else_keeps_them() -> None:
    """Against sets of addresses: in order, each span is looked up where it lies."""
    random = Random(7)
    spans = [(at, at + random.randrange(1, 60)) for at in (random.randrange(2_000) for _ in range(120))]
    union, seen = kept.Union([]), set[int]()
    for start, stop in spans:
        new = set(range(start, stop)) - seen
        assert union.add([(start, stop)]) == len(new)
        seen |= new
    rows = [
        (kept.Root(Subject(None), f"m.g{n}", "module", ""), blocks(*span)) for n, span in enumerate(spans)
    ]
    others = kept._Others([*rows, (kept.Root(Subject(None), "Out[1]", "history", ""), blocks(0, 9_000))])
    for start, stop in [(0, 5), (500, 530), (0, 9_000), (9_000, 9_100)]:
        met = sorted(f"m.g{n}" for n, (low, high) in enumerate(spans) if low < stop and high > start)
        assert list(others.of([(start, stop)])) == met


def blocks(start: int, stop: int) -> Reached:
    block = Elements("", start, (stop - start,), (1,), 1, "uint8", "B", False, "")
    return Reached(0, 0, (block,), 1, ())
