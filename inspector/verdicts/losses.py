"""Decides which differences between a source and a result are losses: those of conversions."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from inspector.facts.conversion import CONSTRUCTED, Loss, LossEvidence
from inspector.facts.memory import Range
from inspector.facts.statements import Bound, Named

CONVERTERS = frozenset(
    (
        *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "astype", "copyto"),
        *("fromiter", "tolist", "to_numpy", "to_pandas", "to_pylist", "maybe_convert_objects", "cast"),
        *("tensor", "as_tensor", "copy_", "to", "type", "int", "long", "short", "char", "byte", "half"),
        *("float", "double", "bool", "fill", "astype_overflowsafe", "as_unit"),
        *("full", "full_like", "new_full", "fill_"),
    )
)
"""Functions that only convert: the last part of a name, or the operation passed to a dispatcher."""
RANKS = ("overflow", "null", "sign", "embedded NUL", "cut", "imaginary", "fraction", "wrapped", "precision")
"""Rules from the most harmful to the least: rounding to fewer digits is often intended."""
PLAIN = ("overflow", "sign", "precision", "embedded NUL", "cut")
"""Rules that a computation does not match by chance if the result shows a changed element."""


def losses(
    evidence: Iterable[LossEvidence],
    seen: Iterable[Loss] = (),
    named: tuple[Sequence[Named], Sequence[Bound]] = ((), ()),
) -> tuple[Loss, ...]:
    """The losses, the worst first. A result of zeros or whole numbers may be computed, so it is no proof.

    `seen`: those that the values of the statements showed; those of no function are told only where no call's
    are. `named`: what the statements named and bound; a call with neither lost a library's own values.
    """
    inside = _Inside(*named)
    by_values = tuple(seen)
    emptied = {
        _place(loss) for loss in by_values if loss.rule == "null"
    }  # its bytes under the null say nothing
    found = [
        replace(item.loss, inside=inside.has(item))
        for item in evidence
        if _is_loss(item) and _place(item.loss) not in emptied
    ]
    of_none = [loss for loss in by_values if loss.function in ("", CONSTRUCTED)]
    of_calls = [loss for loss in by_values if loss not in of_none]
    known = {(loss.rule, _place(loss)) for loss in found if not loss.inside}
    found += [loss for loss in of_calls if (loss.rule, _place(loss)) not in known]
    places = {(loss.rule, _place(loss)[:2]) for loss in found if not loss.inside}
    told = _told_by_calls(found, named[1])
    found += [loss for loss in of_none if (loss.rule, _place(loss)[:2]) not in places and not told(loss)]
    return tuple(sorted(found, key=lambda loss: (RANKS.index(loss.rule), -loss.lost * loss.times)))


def _told_by_calls(found: Sequence[Loss], bound: Sequence[Bound]) -> Callable[[Loss], bool]:
    """Whether a function that the loss's statement called has told it in its own line: of a statement that
    called none of the user's, only a lambda has, whose body is no statement."""
    every = {(loss.rule, loss.before, loss.after) for loss in found}
    of_lambdas = {
        (loss.rule, loss.before, loss.after) for loss in found if str(loss.site.function).endswith("<lambda>")
    }
    calling = {(one.file, one.line) for one in bound if not one.alone}
    return lambda loss: (
        (loss.rule, loss.before, loss.after) in (every if _place(loss)[:2] in calling else of_lambdas)
    )


def _place(loss: Loss) -> tuple[object, ...]:
    return loss.site.file, loss.site.line, loss.before


class _Inside:
    """Which calls of libraries had none of the values that the user's code names."""

    def __init__(self, given: Sequence[Named], bound: Sequence[Bound]) -> None:
        self._lines = {(one.file, line): one for one in given for line in range(one.line, one.last_line + 1)}
        every = [one for named in given for one in named.ranges]
        every += [one for value in bound for one in value.ranges]
        self._whole = {(one.start, one.stop) for one in every}
        self._bound: dict[tuple[str, int], list[Range]] = {}
        for one in bound:
            self._bound.setdefault((one.file, one.line), []).extend(one.ranges)

    def has(self, item: LossEvidence) -> bool:
        """Not where the statement names the function, nor where all that it named is not known.

        What another statement named counts where it is the whole of what was converted, as an object may
        keep it: a part of its memory may be another value's by now.
        """
        site, function = item.loss.site, item.loss.function.rpartition(".")[2]
        own = self._lines.get((str(site.file), site.line)) if isinstance(site.line, int) else None
        if not item.places or own is None or re.search(rf"\b{re.escape(function)}\b", site.text):
            return False
        made = self._bound.get((own.file, own.line), [])
        return not any(
            (one.start, one.stop) in self._whole
            or any(each.start < one.stop and one.start < each.stop for each in (*own.ranges, *made))
            for one in item.places
        )


def _is_loss(evidence: LossEvidence) -> bool:
    if evidence.converts or {evidence.loss.function.rpartition(".")[2], *evidence.asked} & CONVERTERS:
        return True
    return evidence.loss.rule in PLAIN and evidence.shows
