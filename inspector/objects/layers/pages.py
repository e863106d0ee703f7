"""Which pages of some ranges are in memory: PAGEMAP_SCAN, else pagemap, else smaps; never mincore.

mincore(2) reports the page cache, not this process (docs/reference/materialization.md#pages).
"""

# SPDX-License-Identifier: MIT
import mmap
from collections.abc import Callable, Sequence

from inspector import _native
from inspector.binaries.mappings import plain_mapping
from inspector.facts.materialization import NO_BYTES, Residency
from inspector.facts.memory import Mapping, Range
from inspector.facts.unknown import Address, Unknown
from inspector.objects.layers import smaps
from inspector.objects.layouts.overlap import merged

Find = Callable[[Range], Mapping | Unknown]
KINDS = {"file": 1, "shared file": 1, "shared memory": 2}
"""Kind of mapping (mappings.kind_of) -> kind of its pages for _native.residency; others are anonymous."""
MOST_RANGES = 4096
"""Most ranges whose mapping is looked up singly; with more, the first one's counts for all."""


def residency(spans: Sequence[Range], cells: int = 0, places: Find = plain_mapping) -> Residency | Unknown:
    """The pages of `spans`, each byte counted once; `cells` letters in the strip. Pages nothing in.

    `places` returns the mapping of a range.
    """
    asked = _asked(spans, places)
    if not asked:
        return NO_BYTES
    told = _native.residency(asked, cells)
    if told is None:
        return smaps.residency([(start, stop) for start, stop, _ in asked])
    way, private, zero, file, shared, swapped, huge, strip = told
    span_bytes = sum([stop - start for start, stop, _ in asked])
    absent = span_bytes - private - zero - file - shared - swapped
    return Residency(
        state=smaps.word(private + file + shared, zero, absent, swapped),
        private_bytes=private,
        zero_page_bytes=zero,
        file_bytes=file,
        shared_bytes=shared,
        swapped_bytes=swapped,
        absent_bytes=absent,
        huge_bytes=huge,
        page_bytes=mmap.PAGESIZE,
        way="PAGEMAP_SCAN" if way == "PAGEMAP_SCAN" else "pagemap",
        strip=strip,
    )


def _asked(spans: Sequence[Range], places: Find) -> list[tuple[int, int, int]]:
    """(start, stop, kind) of the ranges, merged."""
    if len(spans) == 1:
        (span,) = spans
        return [(span.start, span.stop, _kind(span, places))]
    rows = merged([(span.start, span.stop) for span in spans])
    if len(rows) > MOST_RANGES:
        kind = _kind(_range(rows[0]), places)
        return [(*row, kind) for row in rows]
    return [(*row, _kind(_range(row), places)) for row in rows]


def _kind(span: Range, places: Find) -> int:
    found = places(span)
    return KINDS.get(found.kind, 0) if isinstance(found, Mapping) else 0


def _range(row: tuple[int, int]) -> Range:
    return Range(Address(row[0]), Address(row[1]))


def resident_bytes() -> int:
    """The resident set of this process, by /proc/self/statm (proc_pid_statm(5))."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - a path object costs more than the read
        return int(file.read().split()[1]) * mmap.PAGESIZE
