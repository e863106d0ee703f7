"""Where in Python: code object and instruction become file, line, cell and source text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from inspector.facts.conversion import Site
from inspector.tracing.decode import Rows
from inspector.tracing.places import NOWHERE, site


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
