"""Find the mapping of a range: one call of the kernel, or /proc/self/maps for older kernels."""

# SPDX-License-Identifier: MIT
from bisect import bisect_right

from inspector import _native
from inspector.facts.memory import Mapping, Range
from inspector.facts.unknown import Address, Unknown

NOWHERE = Unknown("no mapping of this process holds the address")
NO_FILE = Unknown("not in a file")
NOT_ASKED = Unknown("not asked")


def mapping(place: Range) -> Mapping | Unknown:
    """The mapping that holds the middle byte of `place`; Unknown if none does.

    The middle, because a large block may be in two mappings: glibc's header in one, and the pages for which
    NumPy requested huge pages in the next.
    """
    middle = (place.start + place.stop) // 2
    row = _find(middle)
    return NOWHERE if row is None else _mapping(place, row, row[5] > SMALL_PAGE or _huge(middle))


def plain_mapping(place: Range) -> Mapping | Unknown:
    """The same, without a check for huge pages: one kernel call less."""
    row = _find((place.start + place.stop) // 2)
    return NOWHERE if row is None else _mapping(place, row, row[5] > SMALL_PAGE or NOT_ASKED)


def name_at(address: int) -> str:
    """What the kernel calls the mapping at an address: a path, "/dev/zero (deleted)"; "" if nothing."""
    row = _find(address)
    return "" if row is None else row[4]


class MappingTable:
    """All mappings at one time: for many ranges at once, cheaper than one kernel call for each."""

    def __init__(self) -> None:
        self._rows = _native.maps()
        self._starts = [row[0] for row in self._rows]

    def __call__(self, place: Range) -> Mapping | Unknown:
        """The mapping that held the middle byte of `place` when the table was made."""
        middle = (place.start + place.stop) // 2
        i = bisect_right(self._starts, middle) - 1
        if i < 0 or middle >= self._rows[i][1]:
            return NOWHERE
        start, stop, permissions, offset, _, name = self._rows[i]
        return _mapping(place, (start, stop, permissions, offset, name, 0), NOT_ASKED)


def _mapping(place: Range, row: tuple[int, int, str, int, str, int], huge_pages: bool | Unknown) -> Mapping:
    start, stop, permissions, offset, name, _ = row
    kind = kind_of(permissions, name)
    in_file = kind in ("file", "shared file")
    return Mapping(
        kind=kind,
        permissions=permissions,
        file=name if in_file else NO_FILE,
        file_offset_bytes=max(0, offset + place.start - start) if in_file else 0,
        huge_pages=huge_pages,
        range=Range(Address(start), Address(stop)),
    )


def _huge(address: int) -> bool | Unknown:
    huge = _native.huge_at(address)
    return Unknown("its page is not in memory, or Linux is older than 6.7") if huge is None else huge


SMALL_PAGE = 65536
"""No base page of Linux is larger; a mapping with larger pages is of hugetlbfs."""

_SHARED_MEMORY = ("/dev/shm/", "/memfd:", "/SYSV", "/dev/zero")


def kind_of(permissions: str, name: str) -> str:
    """A word for a row of /proc/self/maps (proc(5))."""
    if name.startswith(("[heap]", "[stack")):
        return name.strip("[]").partition(":")[0]
    if name.startswith(("[vdso", "[vvar", "[vsyscall")):
        return "vdso"
    shared = permissions.endswith("s")
    if shared and (not name or name.startswith(_SHARED_MEMORY)):
        return "shared memory"
    if not name or name.startswith("["):
        return "anonymous"
    return "shared file" if shared else "file"


def _find(address: int) -> tuple[int, int, str, int, str, int] | None:
    found = _native.mapping_at(address)
    if found is not None:
        return found
    for start, stop, permissions, offset, _, name in _native.maps():
        if start <= address < stop:
            return start, stop, permissions, offset, name, 0
    return None
