"""A cache of unwound native stacks, looked up by the stack words that unwinding reads.

gdb takes about 15 us to unwind a frame, and a place is mostly reached by the same callers. Two stacks with
equal innermost registers are equal when all words that unwinding reads are. By the psABI of x86-64 these
are, for each frame: its return address (the word below the caller's stack pointer), and the saved frame
pointer. Only debug information knows where that is saved, so all possible words must be equal: each that has
the caller's frame pointer or stack pointer (a frame that aligns its stack saves the latter too).
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable

SPAN_MAX: Final = 1 << 16
"""Bytes of stack that are compared at most; deeper stacks are not cached."""
_VARIANTS: Final = 4
"""Cached stacks with the same innermost registers."""
_KEPT: Final = 512
_TRIES: Final = 64
"""After so many stacks kept beyond those found again, caching stops: it does not pay."""
_WORD: Final = 8
_RED_ZONE: Final = 128
"""Bytes below the stack pointer that a function may use (psABI 3.2.2)."""


class Registers(NamedTuple):
    """A frame's program counter, stack pointer and frame pointer."""

    pc: int
    sp: int
    bp: int


class _Kept(NamedTuple):
    span: int
    pick: itemgetter[Any]
    words: tuple[int, ...]
    value: Any


class Unwound:
    """The cache; used while the process is stopped."""

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory = memory
        self._kept: dict[Registers, list[_Kept]] = {}
        self._left = _TRIES

    def forget(self) -> None:
        """Empty the cache: code was loaded or unloaded."""
        self._kept.clear()
        self._left = _TRIES

    def find(self, innermost: Registers) -> Any | None:
        """The cached value of this stack; None where it is not cached."""
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
                return one.value
        return None

    @property
    def learns(self) -> bool:
        """Whether caching still pays."""
        return self._left > 0

    def keep(self, frames: Sequence[Registers], value: Any) -> None:
        """Cache a stack. `frames`: innermost first, no inlined ones. Not cached where its layout differs:
        with a signal frame, or a frame that gdb made up for a tail call."""
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
        pick = itemgetter(found[0], *found)  # with a single position it would return no tuple
        variants = self._kept.setdefault(innermost, [])
        variants.insert(0, _Kept(span, pick, pick(words), value))
        del variants[_VARIANTS:]

    def _words(self, sp: int, span: int) -> memoryview:
        """The words of the stack, from the red zone below `sp` on."""
        return memoryview(self._memory.read(sp - _RED_ZONE, _RED_ZONE + span)).cast("Q")


def _positions(frames: Sequence[Registers], words: memoryview) -> list[int]:
    """Indexes of the words to compare; [] where a return address is not where the psABI has it."""
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
