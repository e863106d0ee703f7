"""Where in Python: code object and instruction become file, line, cell and source text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from types import CodeType
from typing import Any

import numpy as np

from inspector.call_site import instruction_text
from inspector.facts.conversion import Site
from inspector.facts.unknown import Unknown
from inspector.tracing.decode import Rows

LONGEST_TEXT = 60
_NOWHERE = Unknown("no Python frame was recorded")
NOWHERE = Site(_NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, "")


def resolved(
    records: Rows, located: Rows, interned: Sequence[Any], cells: Mapping[str, int]
) -> tuple[tuple[Site, ...], Rows]:
    """The different sites of the `located` records, and which of them each record has (0: none)."""
    numbers = np.zeros(len(records), np.int32)
    pairs = records["code"][located].astype(np.int64) << 32 | records["lasti"][located].astype(np.int64)
    different, inverse = np.unique(pairs, return_inverse=True)
    sites = [NOWHERE]
    for pair in different.tolist():
        code = interned[pair >> 32] if pair >> 32 < len(interned) else None
        sites.append(site(code, pair & 0xFFFFFFFF, cells) if isinstance(code, CodeType) else NOWHERE)
    numbers[located] = inverse + 1
    return tuple(sites), numbers


def site(code: CodeType, instruction: int, cells: Mapping[str, int]) -> Site:
    """The line of Python at an offset of its bytecode; `cells`: file name -> number of the notebook cell."""
    place = next(islice(code.co_positions(), instruction // 2, None), None)
    line = place[0] if place and place[0] is not None else Unknown("the code has no line table")
    cell = cells.get(code.co_filename, Unknown("not in a notebook"))
    text = " ".join(instruction_text(code, instruction).split())
    text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
    return Site(code.co_filename, line, code.co_qualname, cell, text)
