"""What to write instead of a line that copies: only what a test has seen to remove the copy."""

# SPDX-License-Identifier: MIT
import ast
import re
from collections.abc import Iterator, Sequence

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.conversion import Copy
from inspector.facts.statements import Statement
from inspector.verdicts.advice.rows import ADVICE, Advice
from inspector.verdicts.answers.words import answer
from inspector.verdicts.copies import TIMES
from inspector.verdicts.statements.right_side import right_side

LEAST_BYTES = 1_000_000
"""Less is not worth a change."""
MOST = 3


def instead(text: str, copy: Copy | None, what: str = "") -> str:
    """The code that does the same as the statement without this copy; "" if none is known.

    None: the values show the copy, and no call that was seen made it. `what`: the value in words.
    """
    right = _right_side(text)
    for row in ADVICE if right else ():
        found = re.fullmatch(row.written, right)
        if found and _fits(row, copy, found) and re.match(row.result, what):
            return row.instead.format(**found.groupdict(""))
    return ""


def _right_side(text: str) -> str:
    """What a statement binds or returns, as it is written; "" if it does neither."""
    value = right_side(text)
    return ast.get_source_segment(text, value) or "" if value is not None else ""


def _fits(row: Advice, copy: Copy | None, found: re.Match[str]) -> bool:
    if copy is None:
        return not (row.source or row.same_type or row.by)
    if not copy.function.endswith(row.by.format(**found.groupdict(""))):
        return False
    types = [side.rpartition(" ")[2] for side in (copy.source, copy.result)]
    if row.same_type and copy.function.endswith("astype") and types[0] in TIMES.values():
        return False  # their units, which may differ, are not recorded
    return re.match(row.source, copy.source) is not None and (not row.same_type or types[0] == types[1])


def worth_a_change(rows: Sequence[Statement]) -> Iterator[Answer]:
    """The lines that copied most and need not."""
    known = [row for row in rows if row.instead and row.copied_bytes >= LEAST_BYTES]
    for row in sorted(known, key=lambda row: -row.copied_bytes)[:MOST]:
        text = f"Line {row.site.line} copies {size(row.copied_bytes)} that `{row.instead}` would not."
        yield answer("worth-a-change", text, "statements.rows", do=row.instead, costs_bytes=row.copied_bytes)
