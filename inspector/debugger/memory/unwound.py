"""Native stacks that were unwound before: found again by the words that led from frame to frame.

gdb takes some 15 us to unwind a frame, and a place is reached mostly from where it was reached before. Two
stacks with the same innermost registers are the same when everything is the same that unwinding reads of the
stack. By the psABI of x86-64 that is, for each frame: its return address, the word below the caller's stack
pointer; and where the frame pointer was saved. Where that is only the debug information says, so every word
of the frame that could be it must be as it was: each that equals the caller's frame pointer or stack pointer
(of a frame that aligns its stack the latter is saved too).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

SPAN_MAX: Final = 1 << 16
"""Bytes of stack that are compared; a deeper one is unwound each time."""
_VARIANTS: Final = 4
"""Stacks kept that begin with the same registers."""
_KEPT: Final = 512
_TRIES: Final = 64
"""Stacks are kept for so long without one of them being found again; then it does not pay here."""
_WORD: Final = 8
_RED_ZONE: Final = 128
"""Below the stack pointer, a function's own as well (psABI 3.2.2)."""


class Registers(NamedTuple):
    """Of one frame: where it runs, stack pointer, frame pointer."""

    pc: int
    sp: int
    bp: int


class _Kept(NamedTuple):
    span: int
    pick: itemgetter[Any]
    words: tuple[int, ...]
    told: Any


class Unwound:
    """What was told of each stack, by its innermost registers; the process stands still."""

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory = memory
        self._kept: dict[Registers, list[_Kept]] = {}
        self._left = _TRIES

    def forget(self) -> None:
        """Code was loaded or dropped."""
        self._kept.clear()
        self._left = _TRIES

    def find(self, innermost: Registers) -> Any | None:
        """What was told of this stack before; None for one that is not known."""
        variants = self._kept.get(innermost)
        if not variants:
            return None
        try:
            words = self._words(innermost.sp, max(one.span for one in variants))
        except Unreadable:
            return None
        for one in variants:
            if one.pick(words) == one.words:
                self._left += 1
                return one.told
        return None

    @property
    def learns(self) -> bool:
        """Whether it is still worth while to keep stacks."""
        return self._left > 0

    def keep(self, frames: Sequence[Registers], told: Any) -> None:
        """Remember a stack. `frames`: innermost first, without inlined ones. Not kept where it is laid out
        in another way: a signal's frame, a frame that gdb made up for a tail call."""
        self._left -= 1
        innermost, span = frames[0], frames[-1].sp - frames[0].sp
        if innermost.sp % _WORD or not _WORD <= span <= SPAN_MAX:
            return
        try:
            words = self._words(innermost.sp, span)
        except Unreadable:
            return
        found = _positions(frames, words)
        if not found:
            return
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        pick = itemgetter(found[0], *found)  # of a single position it would give no tuple
        variants = self._kept.setdefault(innermost, [])
        variants.insert(0, _Kept(span, pick, pick(words), told))
        del variants[_VARIANTS:]

    def _words(self, sp: int, span: int) -> memoryview:
        """The words of the stack from the red zone below `sp` on."""
        return memoryview(self._memory.read(sp - _RED_ZONE, _RED_ZONE + span)).cast("Q")


def _positions(frames: Sequence[Registers], words: memoryview) -> list[int]:
    """Which words must stay as they are; [] where a return address is not where the psABI has it."""
    begin, first, found = frames[0].sp - _RED_ZONE, 0, list[int]()
    for caller in frames[1:]:
        last = (caller.sp - begin) // _WORD - 1
        if last < first or words[last] != caller.pc:
            return []
        saved = (caller.bp, caller.sp)
        found += [n for n in range(first, last) if words[n] in saved]
        found.append(last)
        first = last + 1
    return found
