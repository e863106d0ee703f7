"""Whether the methods of an ALTREP class agree: what each said about one vector, compared with the others."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from inspector.facts.answers import Answers
from inspector.facts.lazy import LazyClause, LazyContract
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer

Rows = Mapping[str, Mapping[str, Any]]
"""Question -> what a child wrote (native/r/check.c)."""
NA_INTEGER: Final = -(1 << 31)
INTEGERS: Final = (10, 13)
REAL, STRING, RAW = 14, 16, 24
TYPES: Final = {10: "logical", 13: "integer", 14: "double", 15: "complex", 16: "character", 24: "raw"}
WHOLE: Final = ("Elt", "Get_region", "Dataptr", "Duplicate", "Serialize", "Extract_subset")
"""Questions that are answered by all elements."""
STAYS: Final = ("Length", "Elt", "Get_region", "No_NA", "Is_sorted", "Sum", "Min", "Max")
"""Methods that must leave a lazy vector lazy."""
NAMES: Final = {"middle": "Get_region", "end": "Get_region", "sum without NA": "Sum", "writing": "Dataptr"}
ORDERS: Final = {1: 1, 2: 1, -1: -1, -2: -1}
ALLOWED: Final = 1e-9
"""Relative difference of sums: a method may add in another order."""


class Said:
    """The answers about one vector."""

    def __init__(self, head: Mapping[str, Any], answers: Rows) -> None:
        self.head, self.answers = head, answers
        self.type, self.checked = int(head["type"]), int(head["checked"])
        self.values = self._agreed()

    def whole(self, name: str) -> list[int] | None:
        """All elements as one method gave them; None where it gave none."""
        row = self.answers.get(name, {})
        found = row.get("elements")
        if found is None or "signal" in row:
            return None
        if name == "Extract_subset":
            found = found[: self.checked][::-1]
        return list(found) if len(found) == self.checked else None

    def _agreed(self) -> list[int]:
        """The elements that most methods gave; Elt's where there is no majority."""
        given = [tuple(found) for name in WHOLE if (found := self.whole(name)) is not None]
        if not given:
            return []
        most, times = Counter(given).most_common(1)[0]
        return list(most if times > 1 else given[0])

    def numbers(self) -> list[float]:
        """The agreed elements as numbers, NaN for NA."""
        if self.type == REAL:
            return [struct.unpack("d", struct.pack("Q", one))[0] for one in self.values]
        signed = (one - (1 << 64) if one >> 63 else one for one in self.values)
        return [math.nan if one == NA_INTEGER else float(one) for one in signed]

    def text(self, number: int) -> str:
        """An element in words."""
        if self.type == REAL:
            return f"{struct.unpack('d', struct.pack('Q', number))[0]:.7g}"
        if self.type in (*INTEGERS, RAW):
            return str(number - (1 << 64) if number >> 63 else number)
        return "another value"


def contract(head: Mapping[str, Any], answers: Rows) -> LazyContract:
    """Each clause of the contract, and whether it holds."""
    said = Said(head, answers)
    return LazyContract(
        f"{head['class']} of {head['package']}", TYPES.get(said.type, "vector"), int(head["length"]),
        tuple(_clauses(said)),
    )  # fmt: skip


def _clauses(said: Said) -> Iterator[LazyClause]:
    yield from _ended(said)
    yield from (_elements(said, name) for name in WHOLE)
    yield from _region(said)
    yield from _pointer(said)
    yield from _copies(said)
    yield from _numbers(said)
    yield from _stays(said)


def _ended(said: Said) -> Iterator[LazyClause]:
    """Methods that crashed, hung, or raised an error of R."""
    for name, row in said.answers.items():
        what = f"{NAMES.get(name, name)} returns"
        if row.get("signal"):
            how = "no answer in 30 s" if row["signal"] == 14 else f"crashed with signal {row['signal']}"
            yield LazyClause(what, False, how)
        elif "error" in row and name == "writing":
            yield LazyClause("Dataptr to write", Unknown(f"refused: {row['error'].strip()[:60]}"), "")
        elif "error" in row:
            yield LazyClause(what, False, f"error: {row['error'].strip()[:80]}")


def _elements(said: Said, name: str) -> LazyClause:
    what = f"{name} gives the elements"
    row = said.answers.get(name, {})
    if "elements" not in row:
        return LazyClause(what, Unknown("the class leaves it to R"), "")
    found = said.whole(name)
    if found is None:
        return LazyClause(what, False, f"{len(row['elements'])} elements, {said.checked} were asked for")
    return LazyClause(what, *_same(said, found, said.values))


def _same(said: Said, found: Sequence[int], expected: Sequence[int]) -> tuple[bool, str]:
    for at, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one != other:
            return False, f"element {at + 1}: {said.text(one)}, others say {said.text(other)}"
    left = said.head["length"] - said.checked
    return True, f"first {said.checked:,} of {said.head['length']:,}" if left > 0 else ""


def _region(said: Said) -> Iterator[LazyClause]:
    """How many a region has, that they are the right ones, and that nothing behind them is written."""
    length = said.head["length"]
    asked = {"Get_region": (0, said.checked), "middle": (1, 2 if length > 2 else 0), "end": (length - 1, 5)}
    rows = {name: row for name in asked if "given" in (row := said.answers.get(name, {}))}
    if not rows:
        return
    wrong = [
        f"start {asked[name][0]}, count {asked[name][1]}: returned {row['given']}, not {expected}"
        for name, row in rows.items()
        if row["given"] != (expected := min(asked[name][1], length - asked[name][0]))
    ]
    yield LazyClause("Get_region returns how many it gave", not wrong, "; ".join(wrong[:1]))
    behind = [name for name, row in rows.items() if row["behind"]]
    yield LazyClause(
        "Get_region writes only what was asked for",
        not behind,
        "it wrote behind the buffer's end" if behind else "",
    )
    middle = rows.get("middle")
    if middle is not None and middle["elements"] and said.checked > 2:
        yield LazyClause(
            "Get_region begins where it is told", *_same(said, middle["elements"], said.values[1:3])
        )


def _pointer(said: Said) -> Iterator[LazyClause]:
    """Dataptr's pointer stays, is the one that Dataptr_or_null gives then, and Elt reads what it shows."""
    row = said.answers.get("Dataptr", {})
    if "same" in row:
        moved = "two calls gave two pointers"
        yield LazyClause("Dataptr gives one pointer", bool(row["same"]), "" if row["same"] else moved)
        other = "after Dataptr it gave NULL or another pointer"
        yield LazyClause(
            "Dataptr_or_null gives it then", bool(row["or_null"]), "" if row["or_null"] else other
        )
        if "by_elt" in row:
            yield LazyClause("Elt is the same after Dataptr", *_same(said, row["by_elt"], said.values))
    early = said.answers.get("Dataptr_or_null", {})
    if "elements" in early:
        yield LazyClause("Dataptr_or_null shows the elements", *_same(said, early["elements"], said.values))
    row = said.answers.get("writing", {})
    if row.get("by_elt") and said.type != STRING:
        kept = row["by_elt"] == row["elements"]
        told = (
            "" if kept else f"wrote {said.text(row['elements'][0])}, Elt says {said.text(row['by_elt'][0])}"
        )
        yield LazyClause("Elt sees what is written through Dataptr", kept, told)


def _copies(said: Said) -> Iterator[LazyClause]:
    row = said.answers.get("Duplicate", {})
    if "by_elt" in row and said.type != STRING:
        yield LazyClause("Writing to a duplicate changes only it", *_same(said, row["by_elt"], said.values))
    row = said.answers.get("Extract_subset", {})
    found = row.get("elements", [])
    if len(found) == said.checked + 2 and said.type in (*INTEGERS, REAL):
        wrong = [
            where
            for where, one in zip(("behind the end", "NA"), found[-2:], strict=True)
            if not _is_na(said, one)
        ]
        yield LazyClause(
            "Extract_subset gives NA outside", not wrong, f"index {wrong[0]} gave a value" if wrong else ""
        )


def _is_na(said: Said, number: int) -> bool:
    return math.isnan(struct.unpack("d", struct.pack("Q", number))[0]) if said.type == REAL else (
        number - (1 << 64) == NA_INTEGER
    )  # fmt: skip


def _numbers(said: Said) -> Iterator[LazyClause]:
    """Sum, Min, Max, No_NA and Is_sorted against the elements."""
    if said.checked < said.head["length"] or said.type not in (*INTEGERS, REAL) or not said.values:
        return
    values = said.numbers()
    present = [one for one in values if not math.isnan(one)]
    has_na = len(present) < len(values)
    expected = {
        "Sum": math.nan if has_na else math.fsum(values), "sum without NA": math.fsum(present),
        "Min": math.nan if has_na or not present else min(present),
        "Max": math.nan if has_na or not present else max(present),
    }  # fmt: skip
    for name, right in expected.items():
        if "given" in (row := said.answers.get(name, {})):
            yield _number(name, row["given"], right)
    if "given" in (row := said.answers.get("No_NA", {})):
        lies = bool(row["given"]) and has_na
        yield LazyClause(
            "No_NA is true only without NA", not lies, f"element {_first_na(values)} is NA" if lies else ""
        )
    if "given" in (row := said.answers.get("Is_sorted", {})):
        yield _sorted(row["given"], values)


def _number(name: str, given: str, right: float) -> LazyClause:
    value = math.nan if given == "NA" else float(given)
    both = math.isnan(value) and math.isnan(right)
    holds = both or value == right or abs(value - right) <= ALLOWED * max(abs(value), abs(right))
    what = f"{NAMES.get(name, name)} is that of the elements"
    without = ", NA removed" if name == "sum without NA" else ""
    words = f"{given}, the elements say {'NA' if math.isnan(right) else f'{right:.15g}'}{without}"
    return LazyClause(what, holds, "" if holds else words)


def _first_na(values: Sequence[float]) -> int:
    return next(at for at, one in enumerate(values, 1) if math.isnan(one))


def _sorted(given: int, values: Sequence[float]) -> LazyClause:
    """1, 2: increasing; -1, -2: decreasing, NA last or first; anything else says nothing or "unsorted"."""
    way = ORDERS.get(given, 0)
    kept = [one for one in values if not math.isnan(one)]
    wrong = [at for at, (a, b) in enumerate(pairwise(kept), 1) if way * (b - a) < 0]
    if given == 0 and len(kept) == len(values) and all(a <= b for a, b in pairwise(kept)):
        return LazyClause("Is_sorted is true", Unknown('it says "unsorted" of elements that are sorted'), "")
    told = f"says {'increasing' if way > 0 else 'decreasing'}; element {wrong[0] + 1} is not" if wrong else ""
    return LazyClause("Is_sorted is true", not wrong, told)


def _stays(said: Said) -> Iterator[LazyClause]:
    """What no method but Dataptr may do: make all elements."""
    early = said.answers.get("Dataptr_or_null", {})
    told = "afterwards all elements are in memory"
    if "changed" in early:
        done = bool(early["changed"])
        yield LazyClause("Dataptr_or_null leaves it lazy", not done, told if done else "")
    if "elements" in early:
        return  # they were there from the start, or each of our questions makes them
    for name in STAYS:
        row = said.answers.get(name, {})
        if "made" in row and (name in ("Length", "Elt") or "given" in row):
            yield LazyClause(f"{name} leaves it lazy", not row["made"], told if row["made"] else "")


def contract_answers(found: LazyContract) -> Answers:
    """Whether the class keeps its contract."""
    broken = found.broken
    text = f"The methods of `{found.provider}` agree about this vector: {len(found.clauses)} clauses."
    if broken:
        first = broken[0]
        which = ", ".join(dict.fromkeys(one.name.partition(" ")[0] for one in broken))
        seen = f": {first.evidence}" if first.evidence else ""
        text = f"`{found.provider}` breaks its contract in {which}. {first.name}: no{seen}."
    return Answers((answer("altrep-contract", text, "contract.clauses"),))
