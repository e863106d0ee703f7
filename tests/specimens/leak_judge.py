"""Run by tests/leaks in its own process: each function of the corpus called once; JSON of what was found."""

# SPDX-License-Identifier: MIT
import contextlib
import json
import operator
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parent))

import leak_corpus
import specimens

import inspector

Judged = TypeVar("Judged")


FIELDS = ("kind", "certain", "method", "object", "rule", "cure", "reason")


def verdicts(found: Any) -> list[dict[str, Any]]:
    """As plain values."""
    sources = [str(getattr(one.conversion, "source", "")) for one in found]
    rows = [{field: getattr(one, field) for field in FIELDS} for one in found]
    return [row | {"source": source} for row, source in zip(rows, sources, strict=True)]


def judged(corpus: Any, name: str) -> dict[str, Any]:
    """The verdicts of one call, as plain values."""
    x = leak_corpus.argument(name)
    result = None
    with inspector.leaks("leak_corpus") as found, contextlib.suppress(Exception):
        result = getattr(corpus, name)(x)
    told = verdicts(found)
    del result
    return {
        "verdicts": told,
        "kept": holders(found),
        "given_back": found.fact.given_back,
        "refcount": inspector.refcount(x),
    }


def holders(found: Any) -> list[str]:
    """Who keeps what was not lost."""
    return [one.holder for one in found.kept]


def clearly(judge: Callable[[], Judged], kept: Callable[[Judged], list[str]] = holders) -> Judged:
    """What `judge` says; again where an old pointer in a live block happens to have the very address."""
    for _ in range(3):
        found = judge()
        if not any(holder.startswith("malloc'ed block +") for holder in kept(found)):
            break
    return found


if __name__ == "__main__":
    module = specimens.build("leak_corpus", leak_corpus.SOURCE)
    names = (*leak_corpus.FAULTS, *leak_corpus.HONEST)
    kept = operator.itemgetter("kept")
    print(json.dumps({name: clearly(partial(judged, module, name), kept) for name in names}))
