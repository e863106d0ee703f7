"""Answers about a table of names: what is kept although no name shows it, and how to let it go."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import replace

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.namespace import Beyond, Namespace
from inspector.verdicts.answers.words import answer, code, listed

LEAST_BYTES = 100_000
"""Fewer bytes are not worth a sentence."""
MOST_NAMED = 3
COPIED = ("ndarray",)
"""Types whose `.copy()` keeps nothing else alive."""
INDEXED = ("Series", "DataFrame")
"""Their `.copy()` keeps the same index, which may be what no name shows."""


def with_answers(table: Namespace) -> Namespace:
    """The table with what it answers."""
    rules = (_history, _history_and_more, _tracebacks, _modules)
    kept = (found for rule in rules for found in rule(table.kept))
    return replace(table, answers=(*_sum(table), *kept, *_bases(table)))


def _sum(table: Namespace) -> Iterator[Answer]:
    """What the names hold in all, and which of them share memory."""
    count = len(table.rows) + table.left_out
    if not table.rows:
        return
    least = "" if table.complete else "more than "
    held = f"{counted(count, 'name')} {'holds' if count == 1 else 'hold'} {least}{size(table.total_bytes)}"
    groups: dict[int, list[str]] = {}
    for row in table.rows:
        if row.group:
            groups.setdefault(row.group, []).append(row.name)
    several = [names for names in groups.values() if len(names) > 1]
    shared = "; ".join(f"{listed(map(code, names), MOST_NAMED)} share memory" for names in several[:2])
    text = f"{held}{f': {shared}' if shared else ''}."
    yield answer("names-hold", text, "namespace.rows", costs_bytes=table.total_bytes)


def _history(kept: tuple[Beyond, ...]) -> Iterator[Answer]:
    """What IPython's history keeps: one sentence for all results, since one command frees them."""
    rows = [row for row in kept if row.by == "history" and not row.also]
    total = sum(row.bytes for row in rows)
    if total < LEAST_BYTES:
        return
    places = [row.place for row in rows]
    held = listed(map(code, places), MOST_NAMED)
    do = max((row.do for row in rows), key=len)
    ways = do.split(", then ")
    cure = f"{' and then '.join(map(code, ways))} {'frees' if len(ways) == 1 else 'free'} them"
    text = f"{size(total)} more {_are(total)} held by {held}: {cure}."
    yield answer("kept-by-history", text, "namespace.kept", about=tuple(places), do=do, costs_bytes=total)


def _history_and_more(kept: tuple[Beyond, ...]) -> Iterator[Answer]:
    """The largest result that something else keeps too: letting go of the history frees nothing."""
    row = next((row for row in kept if row.by == "history" and row.also), None)
    if row is None or row.bytes < LEAST_BYTES:
        return
    others = [one if " " in one else code(one) for one in row.also]
    who = listed([code(row.place), *others], MOST_NAMED)
    both = "both" if len(others) == 1 else "all"
    text = f"{size(row.bytes)} more {_are(row.bytes)} held by {who}: they are free when {both} let go."
    about = (row.place, *row.also)
    yield answer("kept-by-history", text, "namespace.kept", about=about, costs_bytes=row.bytes)


def _are(total: int) -> str:
    return "is" if size(total).startswith("1 ") else "are"


def _tracebacks(kept: tuple[Beyond, ...]) -> Iterator[Answer]:
    """The largest of what the last traceback keeps."""
    row = next((row for row in kept if row.by == "traceback" and row.place.isidentifier()), None)
    if row is not None and row.bytes >= LEAST_BYTES:
        where = (
            f"{row.why}, kept by the traceback in sys.last_traceback until the next error and `gc.collect()`"
        )
        text = f"{size(row.bytes)}: {code(row.place)}, {where}."
        yield answer(
            "kept-by-traceback", text, "namespace.kept", about=(row.place,), do=row.do, costs_bytes=row.bytes
        )


def _modules(kept: tuple[Beyond, ...]) -> Iterator[Answer]:
    """What globals of the user's modules keep."""
    rows = [row for row in kept if row.by == "module"]
    total = sum(row.bytes for row in rows)
    if total >= LEAST_BYTES:
        places = [row.place for row in rows]
        noun = "a global of a module" if len(rows) == 1 else "globals of modules"
        text = f"{size(total)} {_are(total)} held by {noun}: {listed(map(code, places), MOST_NAMED)}."
        yield answer("kept-by-module", text, "namespace.kept", about=tuple(places), costs_bytes=total)


def _bases(table: Namespace) -> Iterator[Answer]:
    """The view that keeps most of a base which no name shows."""
    row = next((row for row in table.kept if row.by == "base"), None)
    shown = next((one.bytes for one in table.rows if row is not None and one.name == row.place), 0)
    if row is not None and row.bytes >= LEAST_BYTES and isinstance(shown, int) and row.bytes > shown:
        kind = row.type_name.partition(" ")[0]
        copy = f"{row.place}.copy()" if kind in COPIED else ""
        instead = ": its index, or a larger frame that it shows a part of" if kind in INDEXED else ""
        instead = f"; {code(copy)} would keep {size(shown)}" if copy else instead
        text = f"{code(row.place)} keeps {size(row.bytes)} that no name shows{instead}."
        yield answer("keeps-base", text, "namespace.kept", about=(row.place,), do=copy, costs_bytes=row.bytes)
