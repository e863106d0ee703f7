"""Verdicts on operations of many libraries, against a second method that knows nothing of the trace.

The operations are in tests/specimens/trace_cases.txt, the second method in trace_corpus.py beside it. Judged
is what the operation gave, `trace.of(result)`; what libraries do beside it stands in `trace.copies`.
"""

# SPDX-License-Identifier: MIT
import math
import re
from typing import Any

import numpy as np
import pytest
from trace_corpus import EVERY, FURTHER, Case, answered, content, flip, numbers, shares, told

import inspector
from inspector.facts.unknown import Unknown

NEWEST = ("torch", "polars", "bitarray", "others")
"""Libraries of the room `libraries` only."""
CASES_HERE = [
    pytest.param(case, id=str(case), marks=pytest.mark.newest if case.library in NEWEST else ())
    for case in EVERY
]


@pytest.mark.parametrize("case", CASES_HERE)
def test_the_verdict_is_what_the_bytes_do(case: Case) -> None:
    expected = "shared" if shares(case) else "fresh"
    one = told(case)
    assert one.is_what(expected), (one.unknown, one.copies)
    private = one.did == "unknown" and "copy-on-write" in case.name  # the kernel does not say which pages
    silent = one.did in ("", "no bytes", "unknown") and (
        "bits" in case.name or "element" in case.name
    )  # no adapter
    assert one.says(expected) or private or silent, one.did
    if expected == "fresh":
        assert one.names_the_allocator, [copy.allocator for copy in one.copies]
    check_answers(case, expected == "shared")
    if case in FURTHER:
        return  # of texts, nulls and codes the bytes are not those that are read
    if expected == "fresh":
        told_bytes = sum(copy.copied_bytes for copy in one.copies)
        assert one.result_bytes <= told_bytes <= one.result_bytes + 64, (
            "a slice of fresh memory is a little less"
        )
    else:
        assert {copy.copied_bytes for copy in one.copies} == {0}


CLAIMS = {
    "[Nn]o byte in common": False,
    "[Tt]he same object|belong to both|columns? share|share memory|Both map": True,
    "Shares its|A view of `x`(?!: no element)|changes `x`": True,
    "Owns its": False,
}
"""Words of a screen -> whether it says that both share bytes; the first that stands there counts."""


def check_answers(case: Case, shared: bool) -> None:
    """No first screen says the contrary; of both objects it says which, where their bytes can be known."""
    both, alone = (
        (next((means for words, means in CLAIMS.items() if re.search(words, text)), None), text)
        for text in answered(case)
    )
    silent = case.library == "bitarray" or "element" in case.name or case.name.endswith("hex")
    no_claim = re.search("refer to the same|lays no bytes open", both[1])
    assert both[0] is shared or (both[0] is None and (silent or no_claim)), both
    assert alone[0] in (shared, None), alone


def test_the_corpus_is_what_was_promised() -> None:
    libraries = [case.library for case in EVERY]
    assert len(EVERY) >= 560
    assert sum(case.hard for case in EVERY) >= 400
    assert min(libraries.count(name) for name in set(libraries)) >= 12


def test_the_second_method_can_say_both() -> None:
    source = numbers()
    view, copy = source[::2], source.copy()
    before = content(view), content(copy)
    flip(source)
    assert [content(view) == before[0], content(copy) == before[1]] == [False, True]


def test_an_object_that_no_adapter_knows_and_a_small_one_are_unknown() -> None:
    with inspector.trace("numpy") as t:
        small = np.arange(8)[[1, 2]]
    assert isinstance(t.of(small), Unknown)
    assert isinstance(t.of(object()), Unknown)


def test_memory_that_was_given_again_is_not_taken_for_what_it_was() -> None:
    with inspector.trace("numpy") as t:
        first: Any = np.arange(4096)
        del first
        picked = numbers()[np.arange(0, 4096, 2)]
    (copy,) = t.of(picked)  # type: ignore[misc]
    assert (copy.verdict, copy.copied_bytes) == ("copied", picked.nbytes)


def test_where_records_were_dropped_nothing_is_told_shared_for_want_of_them(tmp_path: Any) -> None:
    with inspector.trace("numpy", "math", keep=tmp_path) as t:
        made = np.arange(8192)[np.arange(4096)]
        for _ in range(600_000):
            math.gcd(4, 2)
    assert t.dropped
    assert isinstance(t.of(made), Unknown)
