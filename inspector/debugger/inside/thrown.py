"""Inside gdb: what a thread stops for that is no breakpoint of a line: a signal, an exception of C++."""

# SPDX-License-Identifier: MIT
from typing import Final

import gdb

from inspector.debugger.inside.stepping import fault
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.stack import NO_FAULT, UNTOLD, SignalCause

THROW, CAUGHT = "__cxa_throw", "__cxa_begin_catch"
"""Of the C++ ABI: each `throw` calls the first, each handler the second."""
_ABORT, _ABORT_HEAD = "__abort_msg", 4
"""glibc's pointer to its last words, which follow a number of four bytes."""
_TEXT_MAX: Final = 200
_WITH_TEXT: Final = ("std::runtime_error", "std::logic_error", "std::out_of_range", "std::invalid_argument",
                     "std::length_error", "std::domain_error", "std::range_error", "std::overflow_error",
                     "std::underflow_error")  # fmt: skip
"""libstdc++ keeps their text as a pointer behind the vtable's."""
_IMPOSSIBLE: Final = "a pointer that cannot be one, or an instruction that is forbidden"
_OF_TYPE: Final = "typeinfo name for "


def signal_text(reason: str, memory: RemoteMemory) -> str:
    """A signal with what it is about: an address, its sender, why libc aborts; "" for any other stop."""
    if reason == "SIGABRT" and (why := _abort_text(memory)):
        return f"SIGABRT: {why}"
    cause = fault(reason)
    if isinstance(cause, SignalCause):
        untold = cause.code == UNTOLD
        return f"{reason}: {_IMPOSSIBLE}" if untold else f"{reason} at address {cause.address:#x}"
    if cause != NO_FAULT:
        return f"{reason}: {cause.reason}"
    return reason if reason.startswith("SIG") else ""


def _abort_text(memory: RemoteMemory) -> str:
    """What glibc says of a damaged heap, a smashed stack, a failed assertion; "" for another abort."""
    try:
        at = int(gdb.parse_and_eval(f"*(unsigned long *)&{_ABORT}"))
        return memory.text(at + _ABORT_HEAD, _TEXT_MAX).strip() if at else ""
    except (gdb.error, Unreadable, UnicodeDecodeError):
        return ""


def thrown(memory: RemoteMemory) -> str:
    """At the first instruction of THROW: the exception's type, and its text where the type has one."""
    frame = gdb.newest_frame()
    thrown_at, kind = (int(frame.read_register(one)) & (1 << 64) - 1 for one in _argument_registers())
    try:
        name = _demangled(memory.text(memory.word(kind + 8), _TEXT_MAX))
        text = memory.text(memory.word(thrown_at + 8), _TEXT_MAX) if name in _WITH_TEXT else ""
    except (Unreadable, UnicodeDecodeError):
        return "an exception of C++"
    return f"{name}: {text}" if text else name


def _argument_registers() -> tuple[str, str]:
    is_arm = gdb.selected_inferior().architecture().name().startswith("aarch64")
    return ("x0", "x1") if is_arm else ("rdi", "rsi")


def _demangled(name: str) -> str:
    try:
        said = gdb.execute(f"demangle -l c++ -- _ZTS{name.lstrip('*')}", to_string=True).strip()
    except gdb.error:
        return name
    return said.removeprefix(_OF_TYPE)
