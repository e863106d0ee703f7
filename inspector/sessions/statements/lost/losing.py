"""What one statement may lose: what its operands had before it, and the losses that its values show after."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from types import FrameType
from typing import Any

from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.objects.sharing.meetings import Blocks
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import Masks, before, changed, converter
from inspector.sessions.statements.lost import constructed, printed
from inspector.sessions.statements.lost.coerced import coerced
from inspector.sessions.statements.lost.packed import rounded
from inspector.sessions.statements.lost.parsed import parsed
from inspector.sessions.statements.lost.timed import cut
from inspector.sessions.statements.lost.widened import lost_digits, replaced
from inspector.sessions.statements.lost.wrapped import expected, wrapped


class Losing:
    """A statement that is about to run; nothing of its operands is kept alive."""

    def __init__(self, written: Written, frame: FrameType, blocks: dict[str, Blocks]) -> None:
        self._written = written
        self._rounded = tuple(rounded(written, frame))
        self._coerced = tuple(coerced(written, frame))
        self._printed = printed.printing(written, frame)
        self._nulls = _nulls(written, frame)
        self._given = constructed.given(written, frame)
        self._whole = replaced(written, blocks)
        self._expected = expected(written, frame)

    def found(
        self,
        frame: FrameType,
        operands: dict[str, values.Before],
        bound: list[Any],
        new: list[Any],
        value: Any,
    ) -> Iterator[Loss]:
        """The losses, once it has ended.

        `bound`: what it bound or returned; `new`: of that what it made; `value`: what it returned.
        """
        yield from self._rounded
        if self._expected is not None:
            yield from wrapped(self._written, self._expected, frame, value)
        if new or self._whole:
            after = {name: held[0] for name in operands if (held := values.named(frame, name))}
            yield from lost_digits(self._written, self._whole, operands, after, new, frame)
        if self._given is not None and len(new) == 1:
            yield from constructed.lost(self._written, self._given, new[0])
        yield from cut(self._written, operands, new, frame)
        yield from parsed(self._written, new, frame)
        if self._printed is not None:
            yield from printed.lost(self._written, self._printed, frame, new)
        nulls = tuple(self._made_null(frame, bound))
        yield from nulls or self._coerced

    def _made_null(self, frame: FrameType, bound: list[Any]) -> Iterator[Loss]:
        for name, had in self._nulls.items():
            now = values.named(frame, name)
            for other in bound or now:
                yield from changed(self._written, had, other, now[0] if now else other)


def _nulls(written: Written, frame: FrameType) -> dict[str, Masks]:
    """Operand -> where it has nulls; {} where the statement converts nothing."""
    if not converter(written):
        return {}
    live = {name: found[0] for name in written.names if (found := values.named(frame, name))}
    masks = {name: before(written, one) for name, one in live.items()}
    return {name: had for name, had in masks.items() if had}
