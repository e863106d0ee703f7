"""The verb `leaks`, of memory outside objects: lost blocks become verdicts, growing ones a table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.facts.leaks import Leaks

if TYPE_CHECKING:
    from inspector.tracing.ledger import Found
    from inspector.tracing.outside import Outside


def judged(fact: Leaks, last: Found, outside: Outside) -> Leaks:
    """The fact with what was found outside objects, certain verdicts first. `last`: of the last run."""
    from inspector.tracing.suspects import site_of
    from inspector.verdicts.outside import of_outside

    blocks = outside.found(last.methods, partial(site_of, last))
    told = (*fact.verdicts, *(one for some in blocks for one in of_outside(some)))
    return replace(
        fact,
        verdicts=tuple(sorted(told, key=lambda one: not one.certain)),
        outside=blocks,
        scan_ns=fact.scan_ns + outside.scan_ns,
        scanned_bytes=fact.scanned_bytes + outside.scanned_bytes,
    )
