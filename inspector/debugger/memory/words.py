"""A range of bytes as the words that the processor watches."""

# SPDX-License-Identifier: MIT
from typing import Final

WORDS_MAX: Final = 4
"""Hardware watchpoints (Intel 64 manual, volume 3: DR0 to DR3), of 8 aligned bytes each."""


def words(address: int, size: int) -> list[tuple[int, int]]:
    """The range as aligned words of 8, 4, 2 or 1 bytes; [] where more than WORDS_MAX are needed."""
    at, stop = address, address + size
    found: list[tuple[int, int]] = []
    while at < stop and len(found) <= WORDS_MAX:
        wide = next(wide for wide in (8, 4, 2, 1) if at % wide == 0 and at + wide <= stop)
        found.append((at, wide))
        at += wide
    return found if len(found) <= WORDS_MAX else []
