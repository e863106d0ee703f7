"""Pages by /proc/self/smaps (proc_pid_smaps(5)), for when pagemap is not readable: whole mappings only."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Sequence

from inspector.facts.materialization import Residence, Residency
from inspector.facts.unknown import Unknown

CLOSED = Unknown("the kernel shows no pages: neither pagemap nor smaps of this process can be read")
PART = Unknown("the bytes are a part of their mapping, and smaps tells of whole mappings only")


def residency(rows: Sequence[tuple[int, int]], path: str = "/proc/self/smaps") -> Residency | Unknown:
    """The pages of ranges that are whole mappings except one page at each end; else Unknown."""
    try:
        with open(path, errors="replace") as text:  # noqa: PTH123 (pathlib would be imported for it)
            found = dict(_mappings(text.read()))
    except OSError:
        return CLOSED
    chosen = [_whole(found, row) for row in rows]
    amounts = [one for one in chosen if one is not None]
    if len(amounts) < len(rows):
        return PART
    return _summed(amounts, sum(stop - start for start, stop in rows))


def _whole(
    found: dict[tuple[int, int], dict[str, int]], row: tuple[int, int], slack: int = 8192
) -> dict[str, int] | None:
    near = ((a, b) for a, b in found if a <= row[0] < a + slack and b - slack < row[1] <= b)
    return found.get(next(near, (-1, -1)))


def _mappings(text: str) -> Iterator[tuple[tuple[int, int], dict[str, int]]]:
    """((start, stop), field -> bytes) of each mapping; "path" is 1 if it has a file."""
    span, fields = (0, 0), {"path": 0}
    for line in text.splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            yield span, fields
            start, stop = words[0].split("-")
            span, fields = (int(start, 16), int(stop, 16)), {"path": int(len(words) > 5)}
        elif words[-1] == "kB":
            fields[words[0][:-1]] = int(words[1]) * 1024
    yield span, fields


def _summed(amounts: list[dict[str, int]], span_bytes: int) -> Residency:
    def in_all(*names: str) -> int:
        return sum(one.get(name, 0) for one in amounts for name in names)

    private = min(in_all("Private_Dirty", "Private_Clean"), span_bytes)
    shared = min(in_all("Shared_Dirty", "Shared_Clean"), span_bytes - private)
    swapped = min(in_all("Swap"), span_bytes - private - shared)
    of_files = all(one["path"] for one in amounts)
    absent = span_bytes - private - shared - swapped
    return Residency(
        state=word(private + shared, 0, absent, swapped),
        private_bytes=private,
        zero_page_bytes=0,
        file_bytes=shared if of_files else 0,
        shared_bytes=0 if of_files else shared,
        swapped_bytes=swapped,
        absent_bytes=absent,
        huge_bytes=min(in_all("AnonHugePages"), span_bytes),
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
