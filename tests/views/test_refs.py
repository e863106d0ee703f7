"""The refs lines: the count first, then holders in the user's words, the gap last."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.facts.refs import Owner, Owners, Refs, Scan
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown
from inspector.views.refs import _sample
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = [pytest.mark.core, pytest.mark.quick]
HERE, NONE = Address(0x7F0000001000), Unknown("held by Python, not by native code")
UNASKED = Unknown("memory was not searched")


def owner(kind: str, holder: str, key: str, references: int = 1, certain: bool = True) -> Owner:
    return Owner(kind, holder, key, references, certain, HERE, NONE, NONE)


LOCAL = owner("local", "f, app.py:3", "x")
ITEM = owner("item", "list (2 items), global `rows` of app", "[0]")


def glanced(references: int | ImmortalType, unnamed: int | Unknown, *owners: Owner) -> Refs:
    found = Owners(references, owners, unnamed, UNASKED, UNASKED, UNASKED, 1_200_000_000, (), 81_000_000)
    return Refs(references, found, Unknown("not asked"))


def searched(
    references: int, native: int, unstored: int, *owners: Owner, notes: tuple[str, ...] = ()
) -> Refs:
    scan = Scan(1_200_000_000, 70_000_000, 11_000_000, 14, 9, 0)
    found = Owners(references, owners, 0, native, unstored, scan, 1_200_000_000, notes)
    return Refs(references, found, 0)


def drawn(fact: Refs, everything: bool = False) -> str:
    return plain_text(view(fact), Drawing(everything=everything))


def test_all_are_named() -> None:
    lines = drawn(glanced(2, 0, LOCAL, ITEM)).splitlines()
    assert lines[0].startswith(" refs     2      x · rows[0]") and lines[0].endswith("all 2 named")
    assert len(lines) == 1


def test_a_library_is_named_without_its_abi_tag() -> None:
    static = owner("static", "_decimal.cpython-311-x86_64-linux-gnu.so", "default_context_template+0x0")
    block = owner("heap block", "malloc'ed block kept by _x.abi3.so registry", "+0x8")
    text = drawn(searched(2, 2, 0, static, block))
    assert "_decimal.so  default_context_template+0x0" in text and "by _x.so registry+0x8" in text


def test_what_a_search_would_tell_and_cost() -> None:
    text = drawn(glanced(5, 3, LOCAL, ITEM))
    assert "2 of 5 named" in text
    assert "3 references not yet named: --owners scans 1.2 GB in about 81 ms" in text


def test_an_immortal_has_no_count() -> None:
    text = drawn(glanced(Immortal, Unknown("an immortal has no count"), LOCAL))
    assert "immortal" in text and "never freed" in text and "--owners" not in text


def test_the_balance_adds_up() -> None:
    static = owner("static", "libfoo.so", "registry+0x18", certain=False)
    text = drawn(searched(4, 1, 1, LOCAL, ITEM, static, notes=("a note",)))
    assert "refs     4      2 named, 1 in native code, 1 not stored anywhere readable" in text
    assert "certain   x " in text and "local of f, app.py:3" in text
    assert "possible  libfoo.so  registry+0x18" in text and "C static" in text
    assert "gap       1 reference without a holder" in text
    assert "a note" in text and "scanned 1.2 GB in 81 ms; 14 pointers found, 9 stale" in text


def test_nothing_is_left_to_explain() -> None:
    text = drawn(searched(2, 0, 0, LOCAL, ITEM))
    assert "all 2 named" in text and "gap" not in text


def test_many_owners_fold() -> None:
    many = [owner("item", f"list ({n} items), local `rows{n}` of f", "[0]") for n in range(40)]
    short, long = drawn(searched(40, 0, 0, *many)), drawn(searched(40, 0, 0, *many), everything=True)
    assert short.count("certain") == 6 and "34 more (--all)" in short
    assert long.count("certain") == 40


def test_an_owner_of_many_references_says_how_many() -> None:
    assert "rows[0]  ×1,000" in drawn(searched(1000, 0, 0, owner("item", "list, local `rows`", "[0]", 1000)))


def test_the_file_draws_itself() -> None:
    text = plain_text(_sample(), Drawing())
    assert all(len(line) <= 80 for line in text.splitlines())
