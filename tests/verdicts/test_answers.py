"""The answers of one object: the sentences that a user reads first."""

# SPDX-License-Identifier: MIT
import array
import collections
import contextvars
import ctypes
import datetime
import enum
import functools
import hashlib
import io
import math
import re
import sqlite3
import subprocess
import sys
import threading
import types
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.facts.amounts import size
from inspector.facts.answers import Answers
from inspector.facts.unknown import Address, Unknown
from inspector.verdicts.answers.made import answers, with_answers

pytestmark = [pytest.mark.core, pytest.mark.quick]


def texts(report: Any) -> list[str]:
    return [row.text for row in report.answers.rows]


def slugs(report: Any) -> list[str]:
    return [row.slug for row in report.answers.rows]


def test_a_view_names_its_base_says_which_part_and_what_it_keeps() -> None:
    a = np.arange(1_000_000.0).reshape(1000, 1000)
    b = a[::2, ::3].T
    assert texts(inspector.inspect(b)) == [
        "A view of `a`: every 2nd row and every 3rd column, transposed.",
        "Writing to `b` changes `a`.",
        "While `b` lives, all 8.0 MB of `a` stay; `b.copy()` would keep 1.3 MB.",
        "1.3 MB are copied first where contiguous elements are wanted.",
    ]


def test_another_name() -> None:
    x = np.ones(3)
    y = x
    assert "The same object as `x`." in texts(inspector.inspect(y))
    assert "same-object" not in slugs(inspector.inspect(np.ones(3), name="z"))


def test_read_only_and_why() -> None:
    fixed = bytes(100)
    seen = memoryview(fixed)
    assert texts(inspector.inspect(seen)) == [
        "A view of `fixed`.",
        "Read-only because `fixed` is bytes, which never change; `bytearray(seen)` gives a writable copy.",
    ]
    wide = np.broadcast_to(np.arange(4.0), (1000, 4))
    assert any(
        "Read-only because several of its elements are the same memory" in text
        for text in texts(inspector.inspect(wide))
    )
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(40.0), 10, writeable=True)
    itself = "Writing to one element of `windows` changes others: they are the same memory."
    assert itself in texts(inspector.inspect(windows))
    windows.flags.writeable = False
    told = texts(inspector.inspect(windows))
    assert itself not in told and any("the same memory (overlapping)" in text for text in told)


def test_a_view_of_bytes_that_can_be_written() -> None:
    room = bytearray(100)
    part = memoryview(room)[10:20]
    assert texts(inspector.inspect(part)) == [
        "A view of `room`: bytes 10 to 19.",
        "Writing to `part` changes `room`.",
    ]
    assert "1 consumer of its buffer stops it from growing; `--owners` names it." in texts(
        inspector.inspect(room)
    )
    searched = texts(inspector.inspect(room, scan=True))
    assert "1 memoryview stops it from growing: `part`; `.release()` it." in searched


def test_a_small_view_of_a_large_base_is_told_once() -> None:
    big = np.ones(1_000_000)
    few = big[:10]
    report = inspector.inspect(few)
    assert "large-base" not in slugs(report)
    (keeps,) = (row for row in report.answers.rows if row.slug == "keeps-base")
    assert (keeps.costs_bytes, keeps.do) == (8_000_000, "few.copy()")


class Model:
    """Has arrays."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights


@pytest.mark.parametrize(
    "made", [list, tuple, Model, lambda arrays: {"k": arrays}, lambda arrays: functools.partial(max, arrays)]
)
def test_a_container_weighs_what_it_holds(made: Any) -> None:
    held = made([np.ones(1_000_000), np.ones(1_000_000)])
    first = inspector.inspect(held).answers.rows[0]
    of = r"( of its `\.(args\[0\]|weights)`)?"
    assert re.fullmatch(rf"16 MB in all, nearly all in 2 arrays{of}\.", first.text)
    assert 16_000_000 < first.costs_bytes < 16_010_000


def test_views_in_a_container_count_their_bytes_once() -> None:
    x = np.ones(100_000)
    held = [x, x[:50_000], x[::2], x]
    assert 800_000 <= inspector.inspect(held).contents.bytes < 810_000


def test_a_container_of_views_says_what_they_keep() -> None:
    """Views of what has a place beside them, or that miss little of it, keep nothing worth a word."""
    x = np.ones((1_000, 100))
    kept = r"80\d kB in all, .* Of that its arrays keep 79\d kB which they do not show\."
    for held in ([x[3], x[5:9]], {"k": x[:, 0]}):
        views = "Its 2 arrays are views of one ndarray of 800 kB. " if len(held) == 2 else ""
        assert re.fullmatch(views + kept, texts(inspector.inspect(held))[0])
    assert "Of that its arrays keep 400 kB" in texts(inspector.inspect([x[500:]]))[0]
    for held in ([x, x[3]], [x[1:]]):
        assert "Of that" not in texts(inspector.inspect(held))[0]


def test_texts_are_no_arrays_and_iterators_weigh_their_array() -> None:
    """All bytes were counted, told as "more than", in arrays; of a flat iterator's holder 2.9 kB of 1 MB."""
    held = {n: bytes(100) for n in range(5_000)}
    told, rows = texts(inspector.inspect(held))[0], texts(inspector.inspect({"a": [b"x" * 5_000] * 9}))[0]
    assert re.fullmatch(r"\d+ kB in all\.", told) and "array" not in rows
    each = inspector.inspect(np.ndenumerate(np.ones(125_000)))
    assert texts(each)[0].startswith("1.0 MB in all"), texts(each)


def test_a_large_container_is_counted_whole_or_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [float(i) for i in range(100_000)]
    assert texts(inspector.inspect(held))[0] == "3.2 MB in all."
    assert texts(inspector.inspect([list(range(300_000))]))[0] == "11 MB in all."
    assert inspector.inspect({"k": np.array([None, "a" * len(held)], dtype=object)}).contents.bytes > 1_000
    monkeypatch.setattr("inspector.objects.reach.reached.MOST_OBJECTS", 10_000)
    report = inspector.inspect(held)
    assert not report.contents.complete
    assert report.answers.rows[0].text.startswith("More than 1.0 MB in all: 9,999 objects inside")


@pytest.mark.parametrize("x", [7, 2.5, "text", None, b"bytes", slice(1)])
def test_plain_objects_have_no_answer(x: Any) -> None:
    assert texts(inspector.inspect(x, name="x")) == []


SHARED = bytes(3000)


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (range(10**9), "Keeps none of its items: each is made when it is asked for."),
        ((ctypes.c_int * 10)(), "Owns its 40 B."),
        (datetime.datetime_CAPI, "A pointer for C code; nothing tells how many bytes it leads to"),
        (np.arange(9.0)[3], "One value of 32 B: writing to an array does not change it."),
        (
            np.arange(9).flat,
            "Goes over the elements of an array, which it keeps: a write through it is a write",
        ),
        (np.nditer([np.arange(9), np.arange(9)]), "Goes over 2 arrays, which it keeps."),
        (io.StringIO("ten words " * 2), "Holds a text of 20 characters."),
        (
            io.BytesIO(SHARED),
            "Shares its 3.0 kB with the bytes that it was made of: the first write copies them.",
        ),
        (open(__file__), "Open; its data is in the file, apart from what is buffered."),  # noqa: SIM115
        (io.TextIOWrapper(io.BytesIO(b"text")), "Open, over a BytesIO: its data is in memory."),
        (type("Own", (bytes,), {})(b"text"), "Its bytes are shown by the buffer protocol, which runs code"),
        (len, ("Runs the C function `builtin_len` of `", "Runs a C function of `")),
        (int, "A class made in C: an instance takes 24 B or more."),
        (enum.Enum, f"A class made in Python: an instance takes {enum.Enum.__basicsize__} B or more."),
        (math, "A module made in C"),
        (enum, "A module made in Python: `enum.py`."),
        (contextvars.ContextVar("x"), "A context variable: its values are in contexts, which keep them."),
        (sqlite3.connect(":memory:"), "Open; how much of it SQLite keeps in memory is not known"),
    ],
)
def test_its_first_sentence(x: Any, said: str | tuple[str, ...]) -> None:
    assert texts(inspector.inspect(x, name="x"))[0].startswith(said)


def test_an_exception_tells_where_it_was_raised_and_what_it_keeps() -> None:
    error = ValueError("text", np.ones(100_000))
    kept = "Keeps 800 kB as its `.args[1]`: an ndarray float64 (100000,)."
    assert texts(inspector.inspect(error)) == [kept, "Has no traceback: it keeps no frame."]
    try:
        try:
            raise KeyError
        except KeyError:
            raise TypeError from None
    except TypeError as caught:
        later = caught.with_traceback(None)
    told = "Has no traceback of its own; the exception that it followed may keep frames."
    assert texts(inspector.inspect(later))[0] == told
    try:
        raise error
    except ValueError:
        line = sys._getframe().f_lineno - 2
    here = "test_an_exception_tells_where_it_was_raised_and_what_it_keeps"
    assert texts(inspector.inspect(error))[:2] == [kept, f"Raised in `{here}`, {Path(__file__).name}:{line}."]


def test_a_coroutine_tells_what_it_keeps() -> None:
    async def later(x: Any) -> Any:
        return x

    waiting = later(np.ones(125_000))
    said = texts(inspector.inspect(waiting))[0]
    assert said.endswith("it waits for await. Until it ends it keeps 1.0 MB.")
    waiting.close()


def test_a_subclass_is_counted_unless_it_counts_itself() -> None:
    class Own(dict[str, int]):
        pass

    class Counts(dict[str, int]):
        def __len__(self) -> int:
            return 99

    counted = [Own(a=1), collections.Counter("abc"), collections.deque("abc"), Counts(a=1)]
    assert [inspector.inspect(x).object.length for x in counted[:3]] == [1, 3, 3]
    assert isinstance(inspector.inspect(counted[3]).object.length, Unknown)


def test_a_text_of_a_class_of_its_own_keeps_nothing_that_is_not_known() -> None:
    (said,) = texts(inspector.inspect(type("Own", (str,), {})("text")))
    assert re.fullmatch(r"\d+ B in all\.", said)


def test_who_holds_a_lock() -> None:
    lock, again = threading.Lock(), threading.RLock()
    assert texts(inspector.inspect(lock))[0] == texts(inspector.inspect(again))[0] == "Not locked."
    done = threading.Event()
    other = threading.Thread(target=lambda: (again.acquire(), again.acquire(), done.wait()), name="feeder")
    other.start()
    try:
        with lock:
            told = [texts(inspector.inspect(one))[0] for one in (lock, again)]
    finally:
        done.set()
        other.join()
    assert told[0] == "Locked; CPython does not keep by which thread."
    assert told[1] == "Locked by the thread `feeder`, 2 times."


def test_an_array_of_pointers_says_that_objects_are_extra() -> None:
    x = np.array([None, "a"], dtype=object)
    assert "Python objects they point to are extra" in texts(inspector.inspect(x))[0]


def test_nothing_is_concluded_from_an_unknown() -> None:
    a = np.arange(1_000_000.0)
    facts = inspector.inspect(a[::2], name="b").facts
    hidden = {column: Unknown("not asked") for column in facts}
    assert answers("b", hidden).rows == ()
    for field in ("owns", "readonly", "range", "logical_bytes", "mapping"):
        buffer = replace(facts["buffer"], **{field: Unknown("hidden")})
        assert isinstance(with_answers("b", {**facts, "buffer": buffer})["answers"], Answers), field
    unowned = replace(facts["buffer"], owns=Unknown("hidden"))
    assert not {"view-of", "owner", "write-changes", "keeps-base"} & {
        row.slug for row in answers("b", {**facts, "buffer": unowned}).rows
    }


def test_a_failing_rule_costs_only_the_answers() -> None:
    made = with_answers("x", {"buffer": object()})
    assert made["answers"] == Unknown("the rules failed with AttributeError")


def test_names_stand_between_backticks_and_every_answer_has_evidence() -> None:
    a = array.array("d", [1, 2, 3])
    b = memoryview(a)
    for x in (a, b, [a], np.ones((3, 3)).T):
        for row in inspector.inspect(x, name="x").answers.rows:
            assert row.text.endswith(".") and row.text.count("`") % 2 == 0
            assert row.evidence and all("." in one or one in ("parts",) for one in row.evidence)


def test_answers_are_saved_and_left_out_of_a_comparison(tmp_path: Any) -> None:
    one, two = inspector.inspect([1.5], name="one"), inspector.inspect([1.5, 2.5], name="two")
    one.save(tmp_path / "one.json")
    assert inspector.load(tmp_path / "one.json").answers == one.answers
    assert "answers" not in {change.column for change in inspector.compare(one, two).changes}


def test_they_are_made_in_a_fifth_of_a_millisecond() -> None:
    import timeit

    a = np.arange(1_000_000.0).reshape(1000, 1000)
    facts = inspector.inspect(a[::2, ::3].T, name="b").facts
    assert min(timeit.repeat(lambda: answers("b", facts), number=20, repeat=5)) / 20 < 0.000_2


def test_an_owner_names_the_views_that_a_write_shows_in() -> None:
    x = np.ones(1000)
    part, other = x[::2], x[3:9]
    assert texts(inspector.inspect(x)) == [
        "Owns its 8.0 kB.",
        "Writing to `x` shows in `other` and `part`, which are views of the same bytes.",
    ]
    assert part.base is other.base


def test_two_parts_of_an_unnamed_base_are_not_said_to_change_each_other() -> None:
    left, right = np.array_split(np.arange(1000.0).reshape(2, 500), 2)
    for report in (inspector.inspect(left), inspector.inspect(right)):
        assert not any(row.slug == "write-changes" for row in report.answers.rows)


def test_an_array_over_pandas_is_read_only_and_says_how_to_get_one_that_is_not(tmp_path: Path) -> None:
    """In a program of its own: pandas objects are found among the names of `__main__`."""
    script = tmp_path / "app.py"
    script.write_text(
        "import inspector, numpy as np, pandas as pd\n"
        "s = pd.Series(np.arange(1000.0))\n"
        "T = np.asarray(s)\n"
        "print(inspector.inspect(T))\n"
        "left, right = s.iloc[:10], np.asarray(s.iloc[10:])\n"
        "del s, T\n"
        "print(inspector.inspect(right))\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    shown, _, second = ran.stdout.partition(" right ")
    assert "A view of s: all 8.0 kB." in shown, ran.stderr
    assert (
        "Read-only because pandas shares it (copy-on-write); s.to_numpy(copy=True) gives\n a writable copy."
        in shown
    )
    assert "left" not in second, "it shows other bytes"


def test_a_container_shows_its_largest_items_by_key() -> None:
    rows, big = [1.5, 2.5], np.ones(100_000)
    held = {"rows": rows, "again": rows, "model": {"weights": big}, "n": 5}
    report = inspector.inspect(held, known={id(rows): "rows"})
    first, second, *_ = report.contents.items
    assert (first.key, first.what, first.places) == ("['model']", "dict (1 item)", 1)
    assert 800_000 < first.bytes < 801_000
    assert (second.key, second.places, second.name) == ("['rows']", 2, "rows")
    said = " ".join(str(report).split())
    assert re.search(r"\['rows'\] ─▸ ① list \(2 items\) rows \d+ B 1.5, 2.5", said)
    assert "['again'] ─▸ ①" in said and "['model'] ─▸ dict (1 item) 800 kB 'weights': nd" in said
    long = inspector.inspect({**held, **{f"k{n}": n for n in range(9)}}, known={id(rows): "rows"})
    assert "['model']  dict (1 item)   800 kB" in str(long) and "also rows, in 2 places" in str(long)


def test_a_view_outside_its_base_is_no_view_of_it() -> None:
    facts = inspector.inspect(np.ones(1000)[::2], name="b").facts
    holder = facts["buffer"].holders[0]
    low = replace(holder.range, start=Address(64), stop=Address(128))
    moved = replace(facts["buffer"], holders=(replace(holder, range=low),))
    said = {row.slug for row in answers("b", {**facts, "buffer": moved}).rows}
    assert not said & {"view-of", "write-changes", "keeps-base"}


def test_a_view_of_a_locked_array_is_read_only_because_that_is() -> None:
    locked = np.arange(10.0)
    locked.flags.writeable = False
    x = locked[::2]
    assert (
        texts(inspector.inspect(x))[1] == "Read-only because `locked` is; `x.copy()` gives a writable copy."
    )


def test_of_a_table_of_many_blocks_nothing_is_said_from_the_first_ones() -> None:
    pd = pytest.importorskip("pandas")
    wide = pd.DataFrame({f"c{n}": np.ones(100) for n in range(550)})
    table = wide.set_index(["c0", "c1"])
    said = {row.slug: row.text for row in inspector.inspect(table).answers.rows}
    assert "large-base" not in said, "all 440 kB are its own columns"
    assert not any(" B" in text for slug, text in said.items() if slug == "shared-copy-on-write"), said


@pytest.mark.libraries
def test_a_wide_table_is_said_to_change_another_only_where_a_write_does() -> None:
    pd = pytest.importorskip("pandas")
    for columns in (5, 50, 550):
        wide = pd.DataFrame(np.ones((10, columns)))
        same = wide.copy(deep=False)
        said = inspector.inspect(same, name="same", known={id(wide): "wide", id(same): "same"})
        same.iloc[0, 0] = 7.0
        changed = wide.iloc[0, 0] == 7.0
        assert ("write-copies" in slugs(said)) is not changed, texts(said)
        assert "write-changes" not in slugs(said) or changed, texts(said)


def test_tables_that_share_columns_are_named(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(
        "import inspector, numpy as np, pandas as pd\n"
        "df = pd.DataFrame({'k': range(1000), 'v': np.ones(1000)})\n"
        "c, own, ser = df.copy(deep=False), df.copy(), df['v']\n"
        "print(inspector.inspect(c))\nprint(inspector.inspect(own))\nprint(inspector.inspect(ser))\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    shared, own, column = [" ".join(text.split()) for text in ran.stdout.split("--all")][:3]
    assert "1,000 rows × 2 columns, 16 kB. Shares columns with df until they are written" in shared, (
        ran.stderr
    )
    assert "1,000 rows × 2 columns, 16 kB. held by" in own
    assert "Shares its 8.0 kB with df['v'] until one of them is written (copy-on-write)." in column
    assert "The first write copies 8.0 kB; df['v'] keeps the old values." in column


def test_a_container_says_that_its_arrays_are_views_of_one() -> None:
    a, fixed = np.ones((30, 40)), bytes(range(200))
    said = {
        "Its 3 arrays are views of `a`: writing to one changes `a`.": [a[::2], a[:, 3], a.T],
        "2 of its 3 arrays are views of `a`: writing to one changes `a`.": {"x": a, "y": a[0], "z": a[1]},
        "One of its 2 arrays is a view of the other: a write through one is seen in the other.": (a, a[0]),
        "Its 2 arrays are views of `fixed`.": [np.frombuffer(fixed, "u1", 9), np.frombuffer(fixed, "u2")],
    }
    known = {id(a): "a", id(fixed): "fixed"}
    for text, x in said.items():
        assert texts(inspector.inspect(x, name="x", known=known))[0].startswith(text)
    for x in ([a, a], [a[0], np.ones(3)], [np.ones(3), np.ones(3)], [a[0], [a[1]]]):
        assert "view" not in texts(inspector.inspect(x, name="x", known=known))[0]


def test_what_leads_back_to_an_object_does_not_weigh_what_it_holds() -> None:
    class Node:
        pass

    top, low = Node(), Node()
    top.me, top.low, low.top = top, low, top  # type: ignore[attr-defined]
    top.big, low.small = np.ones(100_000), np.ones(1000)  # type: ignore[attr-defined]
    said = inspector.inspect(top, name="top")
    assert "nearly all in its `.big`: an ndarray float64 (100000,)." in texts(said)[0]
    assert {item.key: item.bytes < 10_000 for item in said.contents.items} == {".big": False, ".low": True}


def test_a_class_and_a_module_say_what_they_keep(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    (tmp_path / "store.py").write_text(
        "import numpy as np\ntable = [np.ones(100_000)]\nclass Pool: cache = {'k': np.ones(50_000)}\n"
    )
    script.write_text(
        "import enum, inspector, store\nclass S: kept = {'a': bytearray(90_000)}\n"
        "class Color(enum.Enum): RED = 'x' * 9_000\n"
        "for x in (S, store, store.Pool, Color.RED): print(inspector.inspect(x))\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    for said in (
        "Its attributes keep 90 kB, nearly all in its .kept: a dict (1 item).",
        "Its globals keep 1.2 MB, nearly all in 2 arrays.",
        "Its attributes keep 400 kB, nearly all in its .cache: a dict (1 item).",
    ):
        assert said in " ".join(ran.stdout.split()), (ran.stdout, ran.stderr)
    assert "EnumType" not in ran.stdout, "a member's class belongs to others too"


def test_what_callables_and_namespaces_keep_is_named_by_its_place() -> None:
    held = np.ones(10_000)
    closure = (lambda kept: lambda: kept)(held)
    keepers = {
        "args[0]": functools.partial(print, held),
        "keywords['file']": functools.partial(print, file=held),
        "kept": closure,
        "__self__": types.MethodType(print, held),
        "a": types.SimpleNamespace(a=held),
    }
    for place, x in keepers.items():
        (said, *_) = texts(inspector.inspect(x, name="x"))
        assert re.fullmatch(r"8\d kB in all, nearly all in its `\.?([^`]+)`: an ndarray .*", said)[1] == place  # type: ignore[index]


def test_a_named_tuple_has_no_struct_of_its_own() -> None:
    pair = collections.namedtuple("pair", "a b")(np.ones(10_000), 1)
    assert "C code" not in texts(inspector.inspect(pair, name="x"))[0], "it has no struct of its own"


@pytest.mark.libraries
def test_what_is_kept_in_all_says_what_most_of_it_is() -> None:
    pd, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    rows = pd.Series(np.arange(100_000.0), index=np.arange(100_000)[::-1].copy())
    assert "Keeps 1.6 MB in all, 800 kB of it in its index." in texts(inspector.inspect(rows))
    rows.index.get_loc(5)
    hashed = [text for text in texts(inspector.inspect(rows)) if text.startswith("Keeps ")]
    assert hashed[0].endswith(" of it in a hash table of pandas."), hashed
    few = [text for text in texts(inspector.inspect(rows[:10])) if "lives" in text]
    assert few[0].endswith("stay, 1.6 MB in all."), "a copy would keep the index too"
    weights = torch.ones(100_000, requires_grad=True)
    weights.sum().backward()
    assert "Keeps 800 kB in all, 400 kB of it in its gradient." in texts(inspector.inspect(weights))


def test_an_array_of_objects_says_its_pointers_and_what_they_point_to() -> None:
    """Checked by the sizes that Python gives."""
    each = [str(number) for number in range(100_000)]
    held = np.array(each, dtype=object)
    whole = size(held.nbytes + sum(map(sys.getsizeof, each)))
    report = inspector.inspect(held, name="held")
    assert texts(report) == [f"Owns its 800 kB of pointers; with what they point to {whole}."]
    first = inspector.inspect(held[:10], name="first")
    assert any(f"all 800 kB of `held` stay, {whole} in all" in text for text in texts(first))


def test_objects_of_c_without_bytes_to_show_say_what_they_are() -> None:
    digest, fed = hashlib.sha256(), sys.getsizeof(hashlib.sha256())
    digest.update(bytes(1_000_000))
    assert texts(inspector.inspect(digest))[0].startswith("A running hash: it keeps a state of fixed size")
    assert sys.getsizeof(digest) == fed
    drawn = inspector.inspect(zlib.compressobj()).drawn(width=80).to_text()
    assert "A compressor:" in drawn and "without what it keeps" in drawn


def test_what_no_row_of_a_container_shows_is_counted_too() -> None:
    """The fact describes 8 items, the card 5 of them: "3 more" of 12 was false."""
    report = inspector.inspect([bytearray(10_000) for _ in range(12)], name="x")
    assert "… 7 more (--all)" in report.to_text()
    assert "… 4 more\n" in report.drawn(everything=True).to_text()
