"""Rules about tables: which of their columns share, one by one."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence

from inspector.facts.answers import Answer
from inspector.facts.comparison import Comparison, Side
from inspector.facts.sharing import PartSharing
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import code
from inspector.verdicts.pairs.words import listed, shared

EVIDENCE = ("comparison.parts", "comparison.sharing.overlap")


def column(found: Comparison) -> Answer | None:
    """An array is a view of one column."""
    if not found.parts or found.sharing.overlap is not True:
        return None
    table, other = _table(found), _other(found)
    sharing = [row for row in found.parts if row.overlap is not False]
    if (
        other.columns
        or len(sharing) != 1
        or sharing[0].overlap is not True
        or table.columns > len(found.parts)
    ):
        return None
    part = sharing[0].part
    name = f'{table.name}["{part}"]' if table.part_word == "column" else f"{table.name}.{part}"
    verb = "is a view of" if other.owns is False and not other.holds_arrays else "shares the memory of"
    return shared("shared-columns", f"{code(other.name)} {verb} {code(name)}", found, EVIDENCE)


def columns(found: Comparison) -> Answer | None:
    """Columns `x`, `y` share, `z` does not."""
    if not found.parts or found.sharing.overlap is not True:
        return None
    table = _table(found)
    yes, no = ([row.part for row in found.parts if row.overlap is kind] for kind in (True, False))
    open_ = [row.part for row in found.parts if isinstance(row.overlap, Unknown)]
    if not yes:
        return None
    left_out, other, word = table.columns - len(found.parts), _other(found), table.part_word
    if not no and not open_ and not left_out:
        if not other.columns:
            return None  # an array over the whole table: it is a view of it
        of = f" of {code(table.name)}" if other.columns != table.columns else ""
        to = f" with {code(other.name)}" if of else ""
        every = f"All {len(yes):,} {word}s" if len(yes) > 1 else _subject(word, yes)
        said = f"{every}{of} share{'' if len(yes) > 1 else 's'}{to}"
    else:
        said = f"{_subject(word, yes)} {'shares' if len(yes) == 1 else 'share'}{_rest(no, open_)}"
    if left_out:
        said = f"Of the first {len(found.parts):,} of {table.columns:,} {word}s: {said[0].lower()}{said[1:]}"
    return shared("shared-columns", said, found, EVIDENCE)


def _subject(word: str, names: Sequence[str]) -> str:
    return f"{word.capitalize()}{'' if len(names) == 1 else 's'} {listed(names)}"


def _rest(no: Sequence[str], open_: Sequence[str]) -> str:
    said = f", {listed(no)} {'does' if len(no) == 1 else 'do'} not" if no else ""
    return said + (f"; of {listed(open_)} it is not known" if open_ else "")


def _table(found: Comparison) -> Side:
    """The object whose columns the parts are."""
    name: PartSharing = found.parts[0]
    return next(side for side in found.sides if side.name == name.table)


def _other(found: Comparison) -> Side:
    left, right = found.sides
    return right if _table(found) is left else left
