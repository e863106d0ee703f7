"""The answers about two objects: the first rule that answers gives the first sentence.

A rule is a function of a comparison: it returns an answer where the facts prove it, else None.
"""

# SPDX-License-Identifier: MIT
from inspector.facts.answers import Answer
from inspector.facts.comparison import Comparison
from inspector.verdicts.pairs.columns import column, columns
from inspector.verdicts.pairs.equality import apart, contents, item, not_known
from inspector.verdicts.pairs.shared import one_file, overlapping, same_object, siblings, view_of, where

RULES = (
    same_object,
    item,
    one_file,
    column,
    columns,
    view_of,
    siblings,
    overlapping,
    apart,
    contents,
    not_known,
)
"""The most telling first."""
MOST_ANSWERS = 3


def answers(found: Comparison) -> tuple[Answer, ...]:
    """The answers of a comparison of two live objects, the most important first; none for saved reports."""
    if len(found.sides) != 2:
        return ()
    first = next((answer for rule in RULES if (answer := rule(found)) is not None), None)
    if first is None:
        return ()
    place = where(found) if found.sharing.overlap is True and first.slug != "same-object" else None
    return (first,) if place is None else (first, place)
