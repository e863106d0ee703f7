"""The leak check of a worker's process, judged there."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any

from inspector.faces.cluster import arming
from inspector.facts.cluster import WorkerLeaks
from inspector.facts.wire import to_wire
from inspector.sessions.leaks import Leaked


def leaks(worker: Any, question: str, limit: int) -> dict[str, Any]:
    """End the check; its first `limit` verdicts and kept objects. {} where another worker reported it."""
    found = arming.first_asked(question)
    if found is None:
        return {}
    assert isinstance(found.block, Leaked)
    fact = found.block.fact
    left_out = max(len(fact.verdicts) - limit, 0)
    notes = (*fact.notes, *((f"{left_out} more verdicts left out",) if left_out else ()))
    bounded = replace(fact, verdicts=fact.verdicts[:limit], kept=fact.kept[:limit], notes=notes)
    return dict(to_wire(WorkerLeaks(worker.address, bounded)))
