"""R functions of a stopped process: R's chain of contexts, merged with the native frames by address.

A context (RCNTXT, src/include/Defn.h of R 4.0 to 4.3, x86-64) is a local of the C function that runs the
closure, so the native frame whose part of the stack holds it is that call. The closure's body runs in the
frames inside it. There is no other evidence: libR.so exports few names.
"""

# SPDX-License-Identifier: MIT
import bisect
import struct
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
_TAG: Final = 48
_LISTSXP, _LGLSXP, _INTSXP, _REALSXP = 2, 10, 13, 14
_DEPTH, _MOST_ARGUMENTS, _MOST_TEXT, _MOST_CALL = 4, 6, 60, 200
_INFIX: Final = ("$", "@", "<-", "+", "-", "*", "/", "[[", "[", "::")
_NO_LINE: Final = Unknown("R does not keep the line")


class Context(NamedTuple):
    """A running R function: the address of its context, and the name by which it was called."""

    address: int
    function: str
    call: str = ""
    """The call, bounded: `py$x`."""


def contexts(memory: RemoteMemory, first: int) -> list[Context]:
    """Contexts from R_GlobalContext on, innermost first; stops at one that is invalid."""
    found: list[Context] = []
    address = first
    for _ in range(_MOST):
        try:
            outer, flag = memory.word(address), memory.word(address + _CALLFLAG) & 0xFFFF_FFFF
            if flag & _FUNCTION:
                call = memory.word(address + _CALL)
                found.append(Context(address, _called(memory, call), _as_written(memory, call)))
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
    return Frame("r", context.function, "R", _NO_LINE, False, context.call)


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


def _as_written(memory: RemoteMemory, call: int) -> str:
    """The call as text; "" where it cannot be read."""
    try:
        return _written(memory, call, _DEPTH)[:_MOST_CALL]
    except (Unreadable, ValueError):
        return ""


def _written(memory: RemoteMemory, value: int, depth: int) -> str:
    """An expression as it may be written: names, calls and constants of one element; "..." for the rest."""
    kind = memory.word(value) & _TYPE
    if kind == _SYMSXP:
        return _text(memory, memory.word(value + _CAR))
    if kind == _LANGSXP and depth:
        return _call_text(memory, value, depth - 1)
    constant = _constant(memory, value, kind)
    return constant or "..."


def _call_text(memory: RemoteMemory, call: int, depth: int) -> str:
    name = _written(memory, memory.word(call + _CAR), depth)
    arguments, pair = list[str](), memory.word(call + _CDR)
    while memory.word(pair) & _TYPE in (_LISTSXP, _LANGSXP) and len(arguments) < _MOST_ARGUMENTS:
        tag = memory.word(pair + _TAG)
        key = f"{_text(memory, memory.word(tag + _CAR))} = " if memory.word(tag) & _TYPE == _SYMSXP else ""
        arguments.append(key + _written(memory, memory.word(pair + _CAR), depth))
        pair = memory.word(pair + _CDR)
    if name in _INFIX and len(arguments) == 2:
        space = "" if name in ("$", "@", "::") else " "
        if name.startswith("["):
            return f"{arguments[0]}{name}{arguments[1]}{']' * len(name)}"
        return f"{arguments[0]}{space}{name}{space}{arguments[1]}"
    shown = name if name.replace(".", "").replace("_", "").isalnum() else f"`{name}`"
    return f"{shown}({', '.join(arguments)})"


def _constant(memory: RemoteMemory, value: int, kind: int) -> str:
    """A vector of one element; "" for anything else."""
    if kind == 0:
        return "NULL"
    if kind not in (_LGLSXP, _INTSXP, _REALSXP, _STRSXP) or memory.word(value + _LENGTH) != 1:
        return ""
    if kind == _STRSXP:
        return f'"{_text(memory, memory.word(value + _DATA))[:_MOST_TEXT]}"'
    word = memory.word(value + _DATA)
    if kind == _REALSXP:
        return f"{struct.unpack('<d', struct.pack('<Q', word))[0]:g}"
    low = word & 0xFFFF_FFFF
    if kind == _LGLSXP:
        return {0: "FALSE", 1: "TRUE"}.get(low, "NA")
    return f"{low - (low >> 31 << 32)}L"
