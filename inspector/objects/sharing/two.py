"""Whether two objects share bytes: at one address, or through a file that both map."""

# SPDX-License-Identifier: MIT
from inspector import _native
from inspector.facts.sharing import Sharing
from inspector.facts.unknown import Unknown
from inspector.objects.sharing import one_file
from inspector.objects.sharing.meetings import Blocks, every_block, judged, meetings, total_of


def of_two(a: _native.Subject, b: _native.Subject) -> Sharing:
    """Whether the bytes of `a` and `b` overlap, in how many bytes, and where their extents do.

    Two mappings of one file overlap too, at different addresses. "No" only if every block is known.
    """
    return of_laid((a, every_block(a)), (b, every_block(b)))


def of_laid(*two: tuple[_native.Subject, Blocks | Unknown]) -> Sharing:
    """As `of_two`, of two objects with their blocks by `every_block`."""
    known = []
    for _, blocks in two:
        if isinstance(blocks, Unknown):
            return Sharing(blocks, blocks, ())
        known.append(blocks)
    found = judged(known[0], known[1], meetings(known).get((0, 1), []))
    if found.overlap is False and (through := one_file.by_file(known[0], known[1])) is not None:
        return through
    counts = [(len(blocks), total_of(one, blocks)) for (one, _), blocks in zip(two, known, strict=True)]
    return _covered(found, counts)


def _covered(found: Sharing, counts: list[tuple[int, int]]) -> Sharing:
    """A "no" becomes Unknown where blocks are left whose address is not known."""
    missing = [(known, total) for known, total in counts if known < total]
    if found.overlap is not False or not missing:
        return found
    known, total = missing[0]
    why = Unknown(f"{known:,} of its {total:,} blocks have a known address, and share nothing")
    return Sharing(why, why, ())
