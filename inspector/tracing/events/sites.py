"""Turn code object and instruction into file, line, cell and source text."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from inspector.facts.conversion import Site
from inspector.tracing.events.code_places import NOWHERE, position, site
from inspector.tracing.events.decode import Rows


def resolved(
    records: Rows, located: Rows, interned: Sequence[Any], cells: Mapping[str, int]
) -> tuple[tuple[Site, ...], Rows]:
    """The distinct sites of the `located` records, and the index of each record's site (0: none).

    A call is two instructions in CPython 3.11; its position is at one until it is specialised, then at the
    other: so instructions of one expression are one site.
    """
    numbers = np.zeros(len(records), np.int32)
    pairs = records["code"][located].astype(np.int64) << 32 | records["lasti"][located].astype(np.int64)
    different, inverse = np.unique(pairs, return_inverse=True)
    sites, known, number_of = [NOWHERE], dict[Any, int](), []
    for pair in different.tolist():
        code, instruction = interned[pair >> 32] if pair >> 32 < len(interned) else None, pair & 0xFFFFFFFF
        key = (pair >> 32, position(code, instruction)) if isinstance(code, CodeType) else None
        if key not in known:
            known[key] = len(sites)
            sites.append(site(code, instruction, cells) if isinstance(code, CodeType) else NOWHERE)
        number_of.append(known[key])
    numbers[located] = np.array(number_of, np.int32)[inverse]
    return tuple(sites), numbers
