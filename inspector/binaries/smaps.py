"""The mappings of a process with what is resident of each: /proc/PID/smaps (proc_pid_smaps(5))."""

# SPDX-License-Identifier: MIT
from typing import Final, NamedTuple

_FIELDS: Final = {
    b"Rss:": (0,),
    b"Pss:": (1,),
    b"Anonymous:": (2,),
    b"Swap:": (3,),
    b"Shared_Dirty:": (4, 6),
    b"Private_Dirty:": (4, 5),
    b"Private_Clean:": (5,),
    b"Shared_Clean:": (6,),
    b"AnonHugePages:": (7,),
    b"Private_Hugetlb:": (8,),
    b"Shared_Hugetlb:": (8,),
}
"""Field of smaps -> the amounts of an Area that it is a part of."""


class Area(NamedTuple):
    """One mapping; amounts in bytes."""

    start: int
    stop: int
    permissions: str
    path: str
    resident: int
    proportional: int
    anonymous: int
    """Resident and no file's any more: written to a private mapping."""
    swapped: int
    dirty: int
    private: int
    shared: int
    huge: int
    pooled: int
    """Huge pages of the system's pool (hugetlbfs), which `resident` does not count."""


def read(pid: int | str = "self") -> bytes:
    """The text for a process. Raises OSError where it may not be read."""
    with open(f"/proc/{pid}/smaps", "rb") as text:  # noqa: PTH123 (pathlib would be imported for it)
        return text.read()


def rollup() -> Area:
    """The sums of all mappings of this process, which the kernel adds up itself (smaps_rollup)."""
    with open("/proc/self/smaps_rollup", "rb") as text:  # noqa: PTH123 (as above)
        return parsed(text.read())[0]


def parsed(text: bytes) -> list[Area]:
    """The mappings that the text of smaps tells of."""
    found, head = list[Area](), list[bytes]()
    amounts = [0] * 9
    for line in text.splitlines():
        name, _, rest = line.partition(b" ")
        if not name.endswith(b":"):
            _add(found, head, amounts)
            head, amounts = line.split(None, 5), [0] * 9
        elif name in _FIELDS:
            for at in _FIELDS[name]:
                amounts[at] += int(rest.split()[0]) << 10
    _add(found, head, amounts)
    return found


def _add(found: list[Area], head: list[bytes], amounts: list[int]) -> None:
    if head:
        start, _, stop = head[0].partition(b"-")
        path = head[5].decode(errors="surrogateescape") if len(head) > 5 else ""
        found.append(Area(int(start, 16), int(stop, 16), head[1].decode(), path, *amounts))
