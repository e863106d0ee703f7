"""Which differences between a source and a result are losses: those of calls that convert."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.facts.conversion import Loss, LossEvidence

CONVERTERS = frozenset(
    (
        *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "astype", "copyto"),
        *("fromiter", "tolist", "to_numpy", "to_pandas", "to_pylist", "maybe_convert_objects", "cast"),
        *("tensor", "as_tensor", "copy_", "to", "type", "int", "long", "short", "char", "byte", "half"),
        *("float", "double", "bool"),
    )
)
"""Functions that convert and do nothing else: the last word of a name, or what a dispatcher is asked for."""
RANKS = ("overflow", "null", "sign", "embedded NUL", "cut", "fraction", "precision")
"""What harms most first: rounding to fewer digits is often meant."""
PLAIN = ("overflow", "sign", "precision", "embedded NUL", "cut")
"""Rules that a computation does not meet by chance once a changed element is there to be seen."""


def losses(evidence: Iterable[LossEvidence]) -> tuple[Loss, ...]:
    """The losses, the worst first. Zeros and whole numbers may be a computation's own result."""
    found = [one.loss for one in evidence if _is_loss(one)]
    return tuple(sorted(found, key=lambda loss: (RANKS.index(loss.rule), -loss.lost * loss.times)))


def _is_loss(one: LossEvidence) -> bool:
    if one.converts or {one.loss.function.rpartition(".")[2], *one.asked} & CONVERTERS:
        return True
    return one.loss.rule in PLAIN and one.shows
