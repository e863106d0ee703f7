"""Which objects share bytes: proved by arithmetic on addresses and strides; no byte is read."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping

from inspector import _native
from inspector.facts.sharing import Pair, Sharing
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.meetings import MOST_PROOFS, blocks_in, judged, meetings
from inspector.objects.sharing.two import of_two


def sharing(a: _native.Subject, b: _native.Subject) -> Sharing:
    """Whether the bytes of `a` and `b` overlap, in how many bytes, and where their extents do.

    Two mappings of one file overlap too, at different addresses. "No" only if every block is known.
    """
    return of_two(a, b)


def pairs(subjects: Mapping[str, _native.Subject]) -> tuple[Pair, ...]:
    """The pairs that share bytes, or may: one sweep over the sorted extents, n log n and the answer.

    n objects over one base make n (n - 1) / 2 pairs: the caller bounds n.
    """
    names = tuple(subjects)
    known = [() if isinstance(blocks := blocks_in(subjects[name]), Unknown) else blocks for name in names]
    found, proofs = [], MOST_PROOFS
    for (i, j), meeting in sorted(meetings(known).items()):
        result = judged(known[i], known[j], meeting, proofs)
        proofs = max(0, proofs - len(meeting))
        if result.overlap is not False:
            found.append(Pair(names[i], names[j], result))
    return tuple(found)
