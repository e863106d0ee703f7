"""The source lines of a host's calls, from the native stacks that its process noted."""

# SPDX-License-Identifier: MIT
import linecache
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from inspector.binaries.line_table import source_lines
from inspector.facts.hosted import HostSite
from inspector.facts.unknown import Unknown

OTHERS: Final = (
    "/usr/include/", "/usr/lib/", "/usr/share/cargo/", "/.cargo/registry/", "/rustc/", "/site-packages/",
)  # fmt: skip
"""Folders of sources that are not the program's own: of a bridge, and of the language's library."""
NO_LINE: Final = Unknown("no line of the program's own: compile it with -g and keep its sources")
Code = Mapping[int, tuple[int, str, int]]
"""First address of code -> (end, file, load bias)."""
Line = tuple[str, int]
"""(path of the source, line)."""


def host_sites(stacks: Mapping[int, Sequence[int]], code: Code) -> dict[int, HostSite | Unknown]:
    """Number of a stack -> the line of the program's own that led to the call."""
    starts = sorted(code)

    @cache
    def lines(address: int) -> tuple[Line, ...]:
        at = bisect_right(starts, address) - 1
        stop, path, bias = code[starts[at]] if at >= 0 else (0, "", 0)
        found = source_lines(path, address - bias) if address < stop else ()
        return tuple(one for one in found if not any(other in one[0] for other in OTHERS))

    own = {number: [line for one in frames for line in lines(one - 1)] for number, frames in stacks.items()}
    several = _reached_from_several(own.values())
    return {number: _site(found, several) for number, found in own.items()}


def _reached_from_several(stacks: Iterable[list[Line]]) -> set[Line]:
    """The lines that more than one line leads to: those of functions that wrap a call of Python."""
    above: dict[Line, set[Line]] = {}
    for found in stacks:
        for line, outer in pairwise(found):
            above.setdefault(line, set()).add(outer)
    return {line for line, outer in above.items() if len(outer) > 1}


def _site(own: list[Line], several: set[Line]) -> HostSite | Unknown:
    """The innermost line in the file where the thread's own code begins, of those that one line leads to."""
    if not own:
        return NO_LINE
    path, line = next(one for one in own if one[0] == own[-1][0] and (one not in several or one == own[-1]))
    text = " ".join(linecache.getline(path, line).split())
    inner = f"{own[0][0].rpartition('/')[2]}:{own[0][1]}"
    return HostSite(path, line, text, inner if own[0] != (path, line) else "")
