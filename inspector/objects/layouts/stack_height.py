"""The height of a frame's evaluation stack before and after each instruction, from its bytecode.

While a frame runs C code, the interpreter keeps the height in a register; the compiler computed it by the
same rules (`dis.stack_effect`), following every path.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dis import Instruction

ENDS: Final = frozenset(
    (
        "RETURN_VALUE",
        "RETURN_CONST",
        "RAISE_VARARGS",
        "RERAISE",
        "INTERPRETER_EXIT",
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    )
)
"""Instructions after which execution does not continue at the next one."""

RESUMED: Final = 0x20 | 0x80 | 0x200
"""CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: up to 3.12 the resumed frame starts with one value."""


@lru_cache(maxsize=256)
def heights(code: CodeType) -> dict[int, tuple[int, int]]:
    """Instruction offset -> (height before, height after), in slots.

    Empty where a path ends below 0, or returns at another height than 1: then this bytecode is unknown here.
    """
    import dis

    instructions = {step.offset: step for step in dis.get_instructions(code)}
    following = dict(zip(instructions, [*list(instructions)[1:], -1], strict=True))
    found: dict[int, tuple[int, int]] = {}
    waiting = list(_starts(code))
    while waiting:
        offset, height = waiting.pop()
        if offset in found or offset not in instructions:
            continue
        step = instructions[offset]
        if height < 0 or (step.opname == "RETURN_VALUE" and height != 1):
            return {}
        found[offset] = height, height + effect(step)
        waiting += _next(step, height, following[offset])
    return found


def effect(step: Instruction, jump: bool = False) -> int:
    """Slots that an instruction adds, by CPython's own table."""
    import dis

    argument = step.arg if step.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(step.opcode, argument, jump=jump)


def _starts(code: CodeType) -> Iterator[tuple[int, int]]:
    """The first instruction, and each exception handler with its stack height."""
    import dis
    import sys

    yield 0, 1 if code.co_flags & RESUMED and sys.version_info < (3, 13) else 0
    for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]
        yield entry.target, entry.depth + 1 + bool(entry.lasti)


def _next(step: Instruction, height: int, following: int) -> Iterator[tuple[int, int]]:
    import dis

    if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
        yield step.argval, height + effect(step, jump=True)
    if step.opname not in ENDS:
        yield following, height + effect(step)
