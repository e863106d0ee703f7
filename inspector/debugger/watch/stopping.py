"""Watch a wide range of this process for a debugger that is attached: it stops each thread that writes."""

# SPDX-License-Identifier: MIT
import os
import struct
from typing import Final

from inspector import _native
from inspector.binaries.mappings import plain_mapping
from inspector.debugger.memory import proc
from inspector.debugger.watch.watched import BYTES_MAX
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown

BUDGET: Final = 100_000
"""Writes; after so many the pages are unprotected for good."""


def watch(address: int, size: int, letter: str) -> str:
    """Watch these bytes in place of those before, none where `size` is 0; "" or why that is not possible."""
    _native.writes_pages_disarm()
    if not size:
        return ""
    if size > BYTES_MAX:
        return f"{size:,} bytes cannot be watched, {BYTES_MAX >> 20:,} MiB at most"
    item = struct.calcsize(letter) if letter and letter != "O" else 8
    threads = proc.threads(os.getpid())
    try:
        _native.writes_pages_arm(address, size, item, is_anonymous(address, size), threads, BUDGET, True)
    except (OSError, RuntimeError) as error:
        return f"its pages cannot be protected: {error}"
    return ""


def is_anonymous(address: int, size: int) -> bool:
    """Whether an absent page reads as zeros: it maps no file."""
    found = plain_mapping(Range(Address(address), Address(address + size)))
    return not isinstance(found, Unknown) and isinstance(found.file, Unknown)
