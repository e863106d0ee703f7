"""The objects that only one object keeps alive: they are freed together with it."""

# SPDX-License-Identifier: MIT
from inspector import _native
from inspector.facts.heap import by_name
from inspector.facts.refs import Retained


def retained(subject: _native.Subject) -> Retained:
    """Objects and own bytes that would be freed with the object, itself included.

    Exact for references that the gc can see; others count as references from outside, so the result is never
    too large. The Subject's own reference does not count.
    """
    rows, _, _ = _native.retained(subject)
    heaviest = by_name(rows)
    own_bytes = sum(own_bytes for _, _, own_bytes in heaviest)
    return Retained(sum(objects for _, objects, _ in heaviest), own_bytes, tuple(heaviest))
