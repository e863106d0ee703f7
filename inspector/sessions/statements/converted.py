"""Values of columns that a conversion in a statement changed: nulls by `cast(strict=False)` or
`errors="coerce"`, fractions and digits cut by a cast within a query, of which no call shows both sides."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from inspector.adapters import columns
from inspector.facts.conversion import Loss, Site
from inspector.facts.statements import Written
from inspector.facts.unknown import Unknown

_CONVERTS: Final = re.compile(
    r"\b(cast|astype|cast_time_unit|convert_dtypes|to_numeric|to_datetime|to_timedelta|to_integer|to_decimal|to_date|to_time"
    r"|strptime|Categorical)\("
)
_OTHERS: Final = re.compile(
    r"\b(shift|reindex|join|merge|concat|where|mask|when|replace|diff|rolling|unstack|pivot|resample|update|map"
    r"|apply|pct_change|combine|align)\w*\("
)
"""What makes nulls too: with one of these in the statement nothing is said."""
NOT_ASKED: Final = Unknown("not asked")
Masks = dict[str, Any]


def converter(written: Written) -> str:
    """The function of a statement that may make nulls of values; "" if there is none, or no telling."""
    found = _CONVERTS.search(written.text)
    return found[1] if found and not _OTHERS.search(written.text) else ""


def before(written: Written, value: Any) -> Masks:
    """Where an operand has nulls; {} where the statement converts nothing."""
    return columns.masks(value) if converter(written) else {}


def changed(written: Written, had: Masks, value: Any, operand: Any) -> Iterator[Loss]:
    """The losses in columns that `value` and the operand both have: nulls that the operand had not, numbers
    that another type has no room for.

    `operand`: the object that the masks are of, as it is now; `value` itself where it was changed in place.
    """
    now = columns.masks(value)
    renamed = len(had) == len(now) == 1  # a conversion may rename its only column
    for was, new in zip(had, now, strict=True) if renamed else ((one, one) for one in had if one in now):
        if len(had[was]) != len(now[new]):
            continue
        lost = (now[new] & ~had[was]).nonzero()[0]
        if len(lost):
            before = "a value" if operand is value else columns.text(operand, was, int(lost[0]))
            told = (before, columns.word(value), int(lost[0]), len(lost))
            yield _loss(written, "null", told, len(now[new]), len(now[new]))
        elif operand is not value and not now[new].any():
            yield from _cast(written, columns.column(operand, was), columns.column(value, new))


def _cast(written: Written, before: Any, after: Any) -> Iterator[Loss]:
    """At most one: the elements that a cast to another type of numbers changed; by sample of long columns."""
    found = columns.cast(before, after) if before is not None and after is not None else None
    if found is not None:
        yield loss_of(written, converter(written), found, len(before))


def loss_of(written: Written, function: str, found: columns.Cast, of: int) -> Loss:
    """What a cast of so many elements lost."""
    loss = _loss(written, found.rule, found.told, found.compared, of)
    return replace(loss, function=function, largest_error=found.error)


def _loss(
    written: Written, rule: columns.Rule, told: tuple[str, str, int, int], compared: int, of: int
) -> Loss:
    sure: Literal["certain", "by sample"] = "certain" if compared == of else "by sample"
    return Loss(rule, converter(written), *told, compared, of, 1, sure, site(written))


def site(written: Written) -> Site:
    """Where a statement stands."""
    return Site(written.file, written.line, NOT_ASKED, NOT_ASKED, written.text)
