"""The objects that only one object keeps alive: they are freed together with it."""

# SPDX-License-Identifier: MIT
from inspector import _native
from inspector.facts.refs import Retained


def retained(subject: _native.Subject) -> Retained:
    """Objects and own bytes that would be freed with the object, itself included.

    Exact for references that the gc can see; others count as references from outside, so the result is never
    too large. The Subject's own reference does not count.
    """
    rows, _, _ = _native.retained(subject)
    by_type: dict[str, tuple[int, int]] = {}
    for name, objects, own_bytes in rows:
        before = by_type.get(name, (0, 0))
        by_type[name] = (before[0] + objects, before[1] + own_bytes)
    heaviest = sorted(by_type.items(), key=lambda row: (-row[1][1], row[0]))
    return Retained(
        sum(objects for _, (objects, _) in heaviest),
        sum(own_bytes for _, (_, own_bytes) in heaviest),
        tuple((name, objects, own_bytes) for name, (objects, own_bytes) in heaviest),
    )
