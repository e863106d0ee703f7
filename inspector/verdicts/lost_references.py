"""Which call took the reference that is lost, by the counts that the calls before it found."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Final

from inspector.facts.leaks import Suspect, Touch

STEALING: Final = ("stolen", "stolen on failure")
OBTAINING: Final = ("new", "stored", "replaced")


def may_have_lost(obj: Suspect, last: Touch) -> tuple[Touch, ...]:
    """The calls up to `last`, one of which took the reference that is lost; () where counts were not noted.

    Compiled code releases without a call. Where a call found no more references than were handed on before
    it, all that were taken before it had been released.
    """
    found: list[Touch] = []
    handed_on = 0
    for touch in obj.touches[: obj.touches.index(last) + 1]:
        if touch.role in OBTAINING:
            if not touch.count:
                return ()
            found = [touch] if touch.count - 1 <= handed_on else [*found, touch]
        handed_on += touch.role in ("kept", *STEALING)
    return tuple(found)
