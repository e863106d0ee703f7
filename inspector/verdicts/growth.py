"""What native code keeps more of with every run: a cache without a bound, or objects it never lets go."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from dataclasses import replace

from inspector.facts.leaks import Drift, KeptByC


def with_growth(kept: Iterable[KeptByC], growing: Iterable[Drift]) -> tuple[KeptByC, ...]:
    """The rows, with the growth of their type; a type without a row gets one."""
    by_type = {drift.type_name: drift for drift in growing}
    rows = [
        replace(row, growth=by_type.pop(row.object).changes) if row.object in by_type else row for row in kept
    ]
    rows += [
        KeptByC(name, drift.objects, next(iter(drift.owners), ""), "", drift.changes)
        for name, drift in by_type.items()
    ]
    return tuple(rows)
