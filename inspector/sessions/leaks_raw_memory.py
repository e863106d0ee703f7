"""The verb `leaks` for raw memory: lost blocks become verdicts, growing places a table."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from functools import partial

from inspector.facts.leaks import Leaks
from inspector.ledger.ledger import Found
from inspector.ledger.raw_memory import RawMemory
from inspector.ledger.suspects import site_of
from inspector.verdicts.raw_memory import of_raw_memory


def judged(fact: Leaks, last: Found, raw_memory: RawMemory) -> Leaks:
    """Add the findings in raw memory to the fact, certain verdicts first. `last`: of the last run."""
    blocks = raw_memory.found(last.method, partial(site_of, last), last.stage)
    found = (*fact.verdicts, *(one for some in blocks for one in of_raw_memory(some)))
    return replace(
        fact,
        verdicts=tuple(sorted(found, key=lambda one: not one.certain)),
        raw_memory=blocks,
        scan_ns=fact.scan_ns + raw_memory.scan_ns,
        scanned_bytes=fact.scanned_bytes + raw_memory.scanned_bytes,
    )
