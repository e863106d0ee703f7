"""Pages by /proc/self/smaps (proc_pid_smaps(5)), for when pagemap is not readable: whole mappings only."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence

from inspector.binaries import smaps
from inspector.facts.materialization import Residence, Residency
from inspector.facts.unknown import Unknown

CLOSED = Unknown("the kernel shows no pages: neither pagemap nor smaps of this process can be read")
PART = Unknown("the bytes are a part of their mapping, and smaps tells of whole mappings only")
SLACK = 8192
"""Bytes of a mapping that may lie before a range and behind it."""


def residency(rows: Sequence[tuple[int, int]], pid: str = "self") -> Residency | Unknown:
    """The pages of ranges that are whole mappings except one page at each end; else Unknown."""
    try:
        areas = smaps.parsed(smaps.read(pid))
    except OSError:
        return CLOSED
    whole = [area for start, stop in rows if (area := _whole(areas, start, stop)) is not None]
    if len(whole) < len(rows):
        return PART
    return _summed(whole, sum(stop - start for start, stop in rows))


def _whole(areas: list[smaps.Area], start: int, stop: int) -> smaps.Area | None:
    near = (a for a in areas if a.start <= start < a.start + SLACK and a.stop - SLACK < stop <= a.stop)
    return next(near, None)


def _summed(areas: list[smaps.Area], span_bytes: int) -> Residency:
    private = min(sum(area.private for area in areas), span_bytes)
    shared = min(sum(area.shared for area in areas), span_bytes - private)
    swapped = min(sum(area.swapped for area in areas), span_bytes - private - shared)
    of_files = all(area.path for area in areas)
    absent = span_bytes - private - shared - swapped
    return Residency(
        state=word(private + shared, 0, absent, swapped),
        private_bytes=private,
        zero_page_bytes=0,
        file_bytes=shared if of_files else 0,
        shared_bytes=0 if of_files else shared,
        swapped_bytes=swapped,
        absent_bytes=absent,
        huge_bytes=min(sum(area.huge for area in areas), span_bytes),
        page_bytes=4096,
        way="smaps",
        strip="",
    )


def word(resident: int, zero: int, absent: int, swapped: int) -> Residence:
    """The word for the largest amount; "resident" if equal."""
    if not (zero or absent or swapped):
        return "resident"
    amounts: list[tuple[int, Residence]] = [
        (resident, "resident"),
        (zero, "zero-page"),
        (absent, "reserved"),
        (swapped, "swapped"),
    ]
    return max(amounts, key=lambda row: row[0])[1]
