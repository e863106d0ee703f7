"""Assemble rings and tables into the events of a trace, of this process or from files."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

from inspector.tracing.events import decode, sites
from inspector.tracing.events.decode import Events
from inspector.tracing.events.name_tables import Tables


def assembled(
    rings: Sequence[tuple[Any, ...]],
    *,
    refused: int,
    interned: Sequence[str | CodeType],
    tables: Tables,
    cells: Mapping[str, int],
    tick_ps: int,
    wall_ns: int,
    grade: str,
) -> Events:
    """The events; `rings` as `_native.ring_end()` gives them, `interned`: types by name, code objects."""
    records, thread, threads, dropped = decode.joined(rings)
    located = (records["flags"] & decode.FLAGS["DEEP"]) != 0
    places, site = sites.resolved(records, located, interned, cells)
    return Events(
        records=records,
        thread=thread,
        threads=threads,
        types=tuple("" if isinstance(one, CodeType) else one for one in interned),
        sites=places,
        site=site,
        names=tables.names,
        modules=tables.modules,
        seen=tables.seen,
        import_modules=tables.import_modules,
        hosts=tables.hosts,
        constants=tables.constants,
        askers=tables.askers,
        givers=tables.givers,
        hooked_imports=tables.hooked_imports,
        counted=tables.counted,
        tick_ps=tick_ps,
        dropped=dropped + refused,
        skipped=sum(ring[4] for ring in rings),
        wall_ns=wall_ns,
        grade=grade,
    )
