"""The one count of what an object keeps: what is freed together with it, in Python and in C++."""

# SPDX-License-Identifier: MIT
from collections.abc import Collection, Iterable

from inspector import _native
from inspector.facts.heap import by_name
from inspector.facts.refs import Retained
from inspector.facts.unknown import Unknown
from inspector.objects.reach.beyond import beyond
from inspector.objects.reach.hidden import hidden
from inspector.objects.reach.untold import untold


def freed(subject: _native.Subject) -> Retained:
    """Objects and own bytes that would be freed with the object, itself included; with what C++ keeps.

    Exact for references that the gc and adapters can see; others count as references from outside, so the
    result is never too large. The Subject's own reference does not count.
    """
    more = beyond((subject,))
    rows, _, _, addresses, lost, lost_addresses = _native.retained(subject, *more.words(), more.named())
    heaviest = by_name([*rows, *more.sums(addresses)])
    cycles = [*lost, *more.sums(lost_addresses)]
    both = by_name([*heaviest, *cycles]) if cycles else heaviest
    objects = sum(objects for _, objects, _ in heaviest)
    if why := more.why or untold(both) or _hidden(subject, both, more.rows):
        unknown = Unknown(f"not all of it can be followed: {why}")
        return Retained(objects, unknown, tuple(heaviest), unknown)
    own_bytes, never = (sum(own_bytes for _, _, own_bytes in rows) for rows in (heaviest, cycles))
    return Retained(objects, own_bytes, tuple(heaviest), never)


def _hidden(subject: _native.Subject, rows: Iterable[tuple[str, int, int]], known: Collection[int]) -> str:
    found = hidden(subject, {name for name, _, _ in rows}, known)
    return f"{found} points to memory that its C struct does not tell of" if found else ""
