"""A loss in words: what changed, or by how much numbers were rounded that the user had rounded."""

# SPDX-License-Identifier: MIT
from inspector.facts.conversion import Loss


def told(loss: Loss) -> str:
    """ "2 of 3 values changed: 300 → 44"; "at least 2 of 3 values rounded, by at most 1.5e-08 of the value"

    "At least" where a sample was compared.
    """
    is_rounded = loss.is_asked_for and loss.largest_error
    count = loss.lost + (0 if is_rounded else loss.others)
    least = "at least " if loss.confidence == "by sample" else ""
    many = f"{least}{count:,} of {loss.elements:,} values" if loss.elements > 1 else "a value"
    if is_rounded:
        return f"{many} rounded, by at most {rounding(loss)} of the value"
    return f"{many} {loss.how}: {loss.before} → {loss.after}"


def rounding(loss: Loss) -> str:
    """The largest relative error: "1.5e-08"."""
    return f"{loss.largest_error:.2g}"
