"""R functions of a stopped process: R's chain of contexts, merged with the native frames by address.

A context (RCNTXT, src/include/Defn.h of R 4.0 to 4.3, x86-64) is a local of the C function that runs the
closure, so the native frame whose part of the stack holds it is that call. The closure's body runs in the
frames inside it. There is no other evidence: libR.so exports few names.
"""

# SPDX-License-Identifier: MIT
import bisect
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown

_MOST: Final = 400
_FUNCTION: Final = 4
"""CTXT_FUNCTION, a bit of `callflag`."""
_CALLFLAG, _CALL = 8, 248
_SYMSXP, _LANGSXP, _CHARSXP, _STRSXP = 1, 6, 9, 16
_CAR, _CDR, _LENGTH, _DATA = 32, 40, 32, 48
_TYPE: Final = 31
_NO_LINE: Final = Unknown("R does not keep the line")


class Context(NamedTuple):
    """A running R function: the address of its context, and the name by which it was called."""

    address: int
    function: str


def contexts(memory: RemoteMemory, first: int) -> list[Context]:
    """Contexts from R_GlobalContext on, innermost first; stops at one that is invalid."""
    found: list[Context] = []
    address = first
    for _ in range(_MOST):
        try:
            outer, flag = memory.word(address), memory.word(address + _CALLFLAG) & 0xFFFF_FFFF
            if flag & _FUNCTION:
                found.append(Context(address, _called(memory, memory.word(address + _CALL))))
        except (Unreadable, ValueError):
            break
        if outer <= address:  # contexts are on the stack, outer ones higher; the outermost is static
            break
        address = outer
    return found


def placed(native: Sequence[Frame], tops: Sequence[int], running: Sequence[Context]) -> list[Frame]:
    """Native frames with R's between them. `tops`: the stack pointer of each native frame,
    and of the next one where the stack was cut."""
    found, left = list[Frame](), list(running)
    for position, frame in enumerate(native):
        while left and bisect.bisect_right(tops, left[0].address) - 1 <= position:
            found.append(_frame(left.pop(0)))
        found.append(frame)
    return [*found, *map(_frame, left)]


def _frame(context: Context) -> Frame:
    return Frame("r", context.function, "R", _NO_LINE, False)


def _called(memory: RemoteMemory, call: int) -> str:
    """The function of a call as written: f, pkg::f; "" for a computed function."""
    if memory.word(call) & _TYPE != _LANGSXP:
        raise ValueError("a context without a call")
    function = memory.word(call + _CAR)
    kind = memory.word(function) & _TYPE
    if kind == _SYMSXP:
        return _text(memory, memory.word(function + _CAR))
    if kind == _LANGSXP:  # pkg::f is a call of `::`
        return _qualified(memory, function) or "(computed)"
    return _text(memory, memory.word(function + _DATA)) if kind == _STRSXP else "(anonymous)"


def _qualified(memory: RemoteMemory, call: int) -> str:
    parts = []
    for _ in range(3):
        part = memory.word(call + _CAR)
        if memory.word(part) & _TYPE != _SYMSXP:
            return ""
        parts.append(_text(memory, memory.word(part + _CAR)))
        call = memory.word(call + _CDR)
    operator, left, right = parts
    return f"{left}{operator}{right}" if operator in ("::", ":::", "$") else ""


def _text(memory: RemoteMemory, name: int) -> str:
    if memory.word(name) & _TYPE != _CHARSXP:
        raise ValueError("a name that is no CHARSXP")
    return memory.read(name + _DATA, min(memory.word(name + _LENGTH), 100)).decode("utf-8", "replace")
