"""The mappings of a process with what is resident of each: /proc/PID/smaps (proc_pid_smaps(5))."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Final, NamedTuple

_FIELDS: Final = {
    b"Rss:": 0,
    b"Pss:": 1,
    b"Anonymous:": 2,
    b"Swap:": 3,
    b"Shared_Dirty:": 4,
    b"Private_Dirty:": 4,
}


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


def read(pid: int | str = "self") -> bytes:
    """The text for a process. Raises OSError where it may not be read."""
    return Path(f"/proc/{pid}/smaps").read_bytes()


def parsed(text: bytes) -> list[Area]:
    """The mappings that the text of smaps tells of."""
    found, head = list[Area](), list[bytes]()
    amounts = [0, 0, 0, 0, 0]
    for line in text.splitlines():
        name, _, rest = line.partition(b" ")
        if not name.endswith(b":"):
            _add(found, head, amounts)
            head, amounts = line.split(None, 5), [0, 0, 0, 0, 0]
        elif name in _FIELDS:
            amounts[_FIELDS[name]] += int(rest.split()[0]) << 10
    _add(found, head, amounts)
    return found


def _add(found: list[Area], head: list[bytes], amounts: list[int]) -> None:
    if head:
        start, _, stop = head[0].partition(b"-")
        path = head[5].decode(errors="surrogateescape") if len(head) > 5 else ""
        resident, proportional, anonymous, swapped, dirty = amounts
        place = (int(start, 16), int(stop, 16), head[1].decode(), path)
        found.append(Area(*place, resident, proportional, anonymous, swapped, dirty))
