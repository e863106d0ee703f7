"""What became of texts, truths, dates, lists and categories of polars, whose bytes NumPy has no view of.

Expected is what polars promises: slices, clones and renamed series share their buffers, what is in another
order has buffers of its own.
"""

# SPDX-License-Identifier: MIT
import datetime
from collections.abc import Callable
from typing import Any

import pytest

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.newest
N = 8192
SHARING = ("s.slice(64, N - 128)", "s.clone()", "s.rename('other')", "s.to_frame('x')")
MAKING = ("s.reverse()", "s.gather_every(2)", "s.to_numpy()")


def _makers() -> dict[str, Callable[[], Any]]:
    import polars

    day, words = datetime.date(2020, 1, 1), [f"w{n}" for n in range(N)]
    return {
        "texts": lambda: polars.Series(words),
        "bytes": lambda: polars.Series([word.encode() for word in words]),
        "truths": lambda: polars.Series([n % 3 == 0 for n in range(N)]).append(polars.Series([True] * N * 7)),
        "dates": lambda: polars.Series([day + datetime.timedelta(n % 999) for n in range(N)]),
        "times": lambda: polars.Series([datetime.time(n % 24) for n in range(N)]),
        "lists": lambda: polars.Series([[n, n + 1] for n in range(N)]),
        "structs": lambda: polars.Series([{"a": n, "b": n / 2} for n in range(N)]),
        "an enum": lambda: polars.Series(["ab"[n % 2] for n in range(N)], dtype=polars.Enum(["a", "b"])),
    }


KINDS = ("texts", "bytes", "truths", "dates", "times", "lists", "structs", "an enum")


@pytest.mark.parametrize("kind", KINDS)
def test_what_polars_hands_on_and_what_it_makes(kind: str) -> None:
    source = _makers()[kind]().rechunk()
    with inspector.trace("polars", "pyarrow", "numpy") as t:
        results = {name: eval(name, {"s": source, "N": N}) for name in (*SHARING, *MAKING)}
    for name in SHARING:
        assert {copy.verdict for copy in t.of(results[name])} == {"shared"}, name
    for name in MAKING:
        made = {copy.verdict for copy in t.of(results[name])}
        assert made and made <= {"copied", "computed", "made"}, (name, made)


def test_a_long_text_is_handed_on_while_its_view_is_new() -> None:
    import polars

    source = polars.Series([f"a text that is longer than a view has room for {n}" for n in range(N)])
    with inspector.trace("polars") as t:
        result = source.reverse()
    views, *letters = t.of(result)
    assert (views.verdict, views.copied_bytes) == ("made", 16 * N)
    assert {copy.verdict for copy in letters} == {"shared"}


def test_objects_have_no_buffer_and_categories_have_their_codes() -> None:
    import polars

    with inspector.trace("polars") as t:
        objects = polars.Series([object()] * N, dtype=polars.Object)
        categories = polars.Series(["a", "b"] * N, dtype=polars.Categorical)
    assert isinstance(t.of(objects), Unknown)
    (codes,) = t.of(categories)
    assert codes.verdict in ("copied", "made") and codes.span_bytes == 4 * 2 * N
