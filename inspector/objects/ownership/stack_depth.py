"""The live part of a running frame's evaluation stack, computed from its bytecode (stack_height.py)."""

# SPDX-License-Identifier: MIT
from inspector.objects.layouts.stack_height import heights
from inspector.objects.ownership.rows import Frame


def live_slots(frame: Frame) -> tuple[int, int]:
    """(certainly live, possibly live) slots of a running frame's stack.

    A call of a C function leaves its arguments on the stack until it returns; a Python function has moved
    them. (0, co_stacksize) for unknown bytecode.
    """
    found = heights(frame.code)
    at = max((offset for offset in found if offset <= frame.last_byte), default=None)
    if at is None:
        return 0, frame.code.co_stacksize
    before, after = found[at]
    lower = max(min(before, after - 1), 0)
    return (lower, lower) if frame.calls_python else (lower, before)
