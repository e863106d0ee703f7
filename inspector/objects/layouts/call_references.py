"""Subtract the references that a call itself holds from the count of the object it passes."""

# SPDX-License-Identifier: MIT
import sys
from types import CodeType
from typing import Final

from inspector import _native

CALLS: Final = {"CALL": 0, "PRECALL": 0, "CALL_KW": 1}
"""Instruction that takes its arguments from the stack -> slots above the arguments."""


def leave_out_call(subject: _native.Subject) -> None:
    """Subtract the references of the call that passed the object to the caller's function.

    A call from Python moves its arguments and holds none. A call through C code (functools.partial) leaves
    them on the stack of the Python function that began it: those slots are counted.
    """
    if not _native.entered_from_c(1):
        return
    try:
        began = sys._getframe(2)
    except ValueError:  # C code called the API without a Python frame above
        return
    first, stop = argument_slots(began.f_code, began.f_lasti)
    subject.leave_out(_native.stack_slots(subject, 2, first, stop))


def argument_slots(code: CodeType, offset: int) -> tuple[int, int]:
    """Slots of the evaluation stack with the positional arguments of the call at `offset`; (0, 0) if none."""
    import dis

    from inspector.objects.layouts.stack_height import heights

    call = next((step for step in dis.get_instructions(code) if step.offset == offset), None)
    if call is None or call.opname not in CALLS or call.arg is None or offset not in heights(code):
        return 0, 0
    stop = heights(code)[offset][0] - CALLS[call.opname]
    if call.opname == "CALL" and sys.version_info < (3, 12):
        stop += call.arg  # 3.11 counts the arguments as taken by PRECALL; CALL takes them
    return stop - call.arg, stop
