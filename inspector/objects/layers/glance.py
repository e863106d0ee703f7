"""One object's state in short: the word and the share in memory, for the table of names."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Any

from inspector.adapters.base import Adapter
from inspector.facts.materialization import NO_BYTES
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown
from inspector.objects.layers.headline import headline
from inspector.objects.layers.pages import residency
from inspector.objects.layers.stack import Places, stack


@dataclass(frozen=True, slots=True)
class Glance:
    """The materialization of an object, for one row."""

    state: str
    """"?" where it is unknown."""
    resident_fraction: float | Unknown
    spans: tuple[Range, ...]


def glance(x: Any, adapter: Adapter, places: Places | None = None) -> Glance:
    """The state of `x`; "?" if its adapter fails, so that the table survives."""
    try:
        of = stack(x, adapter, places)
        pages = residency(of.spans, 0, of.places)
        state = headline(of, pages)
    except Exception as error:  # an adapter may be third-party code
        return Glance("?", Unknown(f"the adapter failed with {type(error).__name__}"), ())
    share: float | Unknown = NO_BYTES
    if not isinstance(pages, Unknown):
        share = pages.resident_bytes / pages.span_bytes
    return Glance("?" if isinstance(state, Unknown) else state, share, of.spans)
