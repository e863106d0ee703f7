"""Memory that came in while a statement ran: np.empty reserves it, and whoever writes first brings it in."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector import _native
from inspector.facts.statements import Written
from inspector.facts.unknown import Unknown
from inspector.objects.sharing.meetings import Blocks
from inspector.sessions.statements.elements import CHUNK_BYTES, CHUNKS, HOLDERS
from inspector.sessions.statements.values import Related

_NOT_THERE: Final = Unknown("its memory was not there before: what was written into it is not seen")
_PERHAPS: Final = Related("unknown", "", _NOT_THERE, "", False)


def changed(name: str, value: Any, known: int, of: Written, blocks: Blocks) -> Related | None:
    """How an operand relates to a statement that changed it. `known`: not 0 where its bytes were read
    before, or it is known what was put into it; else it may be so of a statement that binds nothing."""
    if known:
        return Related("in place", name, 0, "", False)
    is_alone = of.kind == "other" and not _native.exactly(value, *HOLDERS)  # these were not read before
    return _PERHAPS if is_alone and not blocks[0].readonly and _is_filled(blocks) else None


def _is_filled(blocks: Blocks) -> bool:
    """Whether some bytes of the first block that are looked at are in memory and not zero."""
    start, size = blocks[0].range.start, blocks[0].range.bytes
    places = range(start, start + size, max(size // CHUNKS, CHUNK_BYTES))
    found = [_native.read_present(one, min(CHUNK_BYTES, start + size - one)) for one in places]
    return any(one is not None and any(one) for one in found)
