"""What a cell left, from hand-written facts; and of real cells."""

# SPDX-License-Identifier: MIT
import numpy as np

import inspector
from inspector.facts.account import Grown
from inspector.facts.conversion import Site
from inspector.facts.growth import Growth, GrowthSource
from inspector.facts.heap import Difference, NameChange, NewHolder, TypeChange
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.growth import asked_for
from inspector.verdicts.differences import answers, growth_of_program, native_growth, watched_growth


def said(names: list[NameChange], heap: int = 0, resident: int = 0) -> list[str]:
    return [one.text for one in answers(Difference(0, heap, resident, (), tuple(names), 0))]


def test_what_names_hold_more_and_what_only_shows_older_bytes() -> None:
    new = NameChange("w", "born", "numpy.ndarray", 1, 800_000)
    view = NameChange("v", "born", "numpy.ndarray", 1, 400_000, "big")
    assert said([new, view], 800_000) == [
        "`w` holds 800 kB more.",
        "`v` shows bytes of `big`, which were there before.",
    ]
    assert said([view]) == ["`v` shows bytes of `big`, which were there before."]
    assert said([]) == ["No name holds 1.0 kB more (modules and code not counted)."]
    lost = Difference(301, 22_000, 0, (TypeChange("list", 300, 21_900), TypeChange("tuple", 1, 100)), (), 0)
    said_of_lost = (
        "300 more `list`, 22 kB, are alive: no name holds 1.0 kB more (modules and code not counted)."
    )
    assert [one.text for one in answers(lost)] == [said_of_lost]


def test_many_names_of_which_none_holds_much() -> None:
    names = [NameChange(f"n{i}", "born", "list", 1, 100) for i in range(600)]
    assert said(names, 60_000) == ["600 names hold 60 kB more, each at most 600 B."]


def test_what_two_names_hold_is_counted_once() -> None:
    names = {"old": np.ones(50_000)}
    before = inspector.snapshot(names)
    array = np.ones(100_000)
    names |= {"a": array, "c": {"x": array, **dict.fromkeys(range(100))}, "d": [names["old"]] * 1_000}
    first = next(iter(answers(inspector.snapshot(names) - before))).text
    assert first == "Names hold 813 kB more, each byte once: `c` 805 kB, `a` 800 kB and `d` 408 kB."


def test_a_name_that_is_gone_has_freed_its_bytes_only_where_the_heap_says_so() -> None:
    gone = NameChange("w", "gone", "numpy.ndarray", 1, 800_000)
    assert said([gone], -800_100) == ["`w` is gone; the heap is 800 kB smaller."]
    assert said([gone], -200) == ["`w` is gone."]


def test_growth_that_no_name_holds_comes_first_where_it_is_more() -> None:
    new = NameChange("w", "born", "numpy.ndarray", 1, 2_000_000)
    assert said([new], 2_000_000, 24_000_000)[0].startswith("The process grew by 22 MB that no name holds")
    assert said([new], 2_000_000, 3_500_000)[-1].startswith("The process grew by 1.5 MB that no name holds")
    assert len(said([new], 2_000_000, 2_500_000)) == 1


def test_what_names_hold_is_not_told_as_memory_that_no_name_holds() -> None:
    new = NameChange("w", "born", "list", 1, 100_000_000)
    rows = (Grown("buffers", 95_000_000, "numpy.ndarray"), Grown("free", 43_000_000, "glibc's malloc"))
    fact = Difference(0, 0, 150_000_000, (), (new,), 0, grew=rows)
    assert [one.text for one in answers(fact)] == [
        "`w` holds 100 MB more.",
        "The process grew by 50 MB that no name holds: 43 MB more free memory that `glibc's malloc` keeps.",
    ]


def test_where_it_grew_is_told_by_the_rows_of_the_account() -> None:
    rows = (Grown("mapped", 250_000_000, "libarrow.so"), Grown("free", 9_000_000, "glibc's malloc"))
    fact = Difference(0, 0, 251_000_000, (), (), 0, grew=rows)
    assert next(answers(fact)).text == (
        "The process grew by 251 MB that no name holds: 250 MB more that `libarrow.so` mapped, "
        "which no Python object is known to hold."
    )


def test_what_became_less_elsewhere_is_told_with_what_grew_by_more_than_the_process() -> None:
    """ "The process grew by 15 MB that no name holds: 40 MB more in blocks of C code" did not add up."""
    fact = Difference(0, 0, 15_000_000, (), (), 0, grew=(Grown("blocks", 40_000_000, ""),))
    assert next(answers(fact)).text == (
        "The process grew by 15 MB that no name holds: 40 MB more in blocks of C code, "
        "which no Python object is known to hold, and 25 MB less elsewhere."
    )


def test_a_holder_of_half_of_them_is_none() -> None:
    rows = (Grown("objects", 45_000_000, "str"),)
    for held, end in ((8, "; 8 of 8 new objects looked at are held by `Client._cache`."), (4, "(`str`).")):
        holder = NewHolder("Client._cache", held, 8)
        fact = Difference(0, 0, 45_000_000, (), (), 0, grew=rows, holder=holder)
        assert next(answers(fact)).text.endswith(end)


def test_rows_that_grew_by_much_more_than_the_process_do_not_explain_it() -> None:
    rows = (Grown("free", 648_000, "Python's allocator"),)
    small, large = (Growth(change, rows, (), 0, 0, 2 * 10**9) for change in (8_000, 640_000))
    assert watched_growth(small, 7, {}).text == "Process 7 grew by 8.0 kB in 2.0 s, 240 kB a minute."
    assert "648 kB more in free" in watched_growth(large, 7, {}).text


def test_lines_are_told_where_a_name_gathered_bit_by_bit() -> None:
    """A single new array needs no line: its own is the cell's."""
    site = Site("/app/t.py", 7, "run", Unknown("no cell"), "rows.append(read())")
    source = GrowthSource(40_000_000, 9, site, "libx.so", "malloc", (), (), (10**7,) * 4, False)
    growth = Growth(42_000_000, (), (source,), 1 << 19, 0, 10**9)
    for change, told in (("kept", 2), ("born", 1)):
        fact = Difference(0, 0, 42_000_000, (), (NameChange("rows", change, "list", 1, 42_000_000),), 0)
        said = [one.text for one in answers(fact, growth)]
        assert said[0] == "`rows` holds 42 MB more." and len(said) == told
        assert change == "born" or said[1].startswith(
            "`rows.append(read())` in t.py:7 asked for 40 MB in 9 blocks (libx.so)"
        )


def test_blocks_are_counted_where_each_has_a_sample() -> None:
    site = Site("/app/t.py", 7, "run", Unknown("no cell"), "read()")
    told = {}
    for samples, block in ((10, 8_000_000), (9_000, 5_000_000), (40, 1_000_000), (1, 10**8)):
        total = samples * block
        source = GrowthSource(total, samples, site, "", "malloc", (), (), (total, 0, 0, 0), False)
        growth = Growth(total, (), (source,), 1 << 19, 0, 10**9)
        text = next(asked_for(growth)).text
        told[samples] = text.partition(" asked for ")[2].partition(",")[0]
    assert told == {10: "80 MB in 10 blocks", 9_000: "45 GB in about 9", 40: "40 MB", 1: "100 MB"}


def test_blocks_of_one_size_tell_what_a_call_asked_for() -> None:
    """A few others may be among them; where pages were never touched, or sizes differ, no size is told."""
    site = Site("/app/t.py", 7, "run", Unknown("no cell"), "read()")
    told = {}
    for total, samples, alike in ((80_500_000, 11, 10), (40_000_000, 10, 10), (81_000_000, 10, 1)):
        each = 8_000_000 if alike > 1 else total
        source = GrowthSource(total, samples, site, "", "", (), (), (0, 0, 0, total), False, alike, each)
        text = next(asked_for(Growth(total, (), (source,), 1 << 19, 0, 10**9))).text
        told[total] = text.partition(" asked for ")[2].partition(",")[0]
    assert list(told.values()) == ["80 MB in 10 blocks of 8.0 MB", "40 MB in 10 blocks", "81 MB in 10 blocks"]


def test_native_growth_is_told_by_run() -> None:
    rows = (Grown("blocks", 60_000_000, ""), Grown("objects", 90_000_000, "str"))
    assert [one.text for one in native_growth(rows, 6)] == [
        "Native memory grew by 60 MB, 10 MB a run: "
        "60 MB more in blocks of C code, which no Python object is known to hold."
    ]
    assert list(native_growth(rows[1:], 6)) == []


def test_what_imports_took_is_said_by_library() -> None:
    assert growth_of_program(["numpy", "torch"]).text.startswith(
        "That counts what importing `numpy` and `torch` took. "
    )
    assert "importing `a`, `b`, `c` and 2 more took" in growth_of_program(list("abcde")).text


def test_real_names() -> None:
    names = {"big": np.zeros(50_000)}
    before = inspector.snapshot(names)
    names.update(view=names["big"][::2], own=np.ones(10_000))
    change = {row.name: row for row in (inspector.snapshot(names) - before).names}
    assert (change["view"].of, change["own"].of) == ("big", "") and change["own"].bytes >= 80_000


def test_what_a_view_keeps_beyond_the_names_is_its_names() -> None:
    names: dict[str, object] = {}
    before = inspector.snapshot(names)
    names.update(part=np.ones(100_000)[:10], whole=(whole := np.ones(50_000)), of_whole=whole[:10])
    held = {row.name: row.bytes for row in (inspector.snapshot(names) - before).names}
    assert isinstance(held["part"], int) and 800_000 <= held["part"] < 801_000
    assert isinstance(held["of_whole"], int) and held["of_whole"] < 1_000


def test_a_list_with_more_than_views_is_no_view() -> None:
    """Bytes of its own, or more blocks than are noted, are something new."""
    names: dict[str, object] = {"big": np.zeros(50_000)}
    before = inspector.snapshot(names)
    big = names["big"]
    assert isinstance(big, np.ndarray)
    new = np.ones(10)
    names.update(pair=[big[::2], big], text=[big, "x" * 5_000], many=[*(big[n:] for n in range(16)), new])
    change = {row.name: row.of for row in (inspector.snapshot(names) - before).names}
    assert (change["pair"], change["text"], change["many"]) == ("big", "", "")
