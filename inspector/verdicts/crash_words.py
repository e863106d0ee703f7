"""Why a process died, in a sentence: the place, the address, the pointer, the line of Python."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator, Sequence
from typing import Final

from inspector.facts.answers import Answer, Answers
from inspector.facts.crash import Crash
from inspector.facts.leaks import Touch, Verdict
from inspector.facts.stack import UNTOLD, Argument, Frame, SignalCause, Stop
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, code

FIRST_PAGE: Final = 4_096
"""No memory is ever mapped below: such an address is a NULL pointer with an offset."""
_INSTALLED: Final = ("-packages/", "/lib/python3", "<frozen ")
"""Parts of paths of Python's own files and of installed packages."""
_ENDING: Final = re.compile(r"(__GI_)?_*(pthread_kill(_implementation|_internal)?|raise|gsignal|abort)")
"""Functions by which C code ends its own process."""


def crash(signal: str, where: Touch | Unknown, place: str, *, watched: bool) -> Verdict:
    """A signal ended the process that ran the code: a copy of this process, or a separate program."""
    rule = "native code returns errors; it does not end the process"
    cure = "inspector debug shows the C stack of the crash"
    reason = f"{signal} in {place}" + (", while the ledger was open" if watched else "")
    return Verdict("crash", "", not watched, 0, 0, where, (), "", rule, cure, reason)


def stop_answers(stop: Stop) -> Answers:
    """Why a stopped process would die now; () where it stopped for another reason."""
    if not stop.reason.startswith("SIG"):
        return Answers(())
    where, line = _place(stop.stack.frames)
    null = _null_pointer(stop)
    said = f"{where} {_what(stop.reason, stop.fault)}"
    named = f" {code(null)} is NULL." if null else ""
    return Answers((_answer(stop.reason, f"{said}.{named}"), *_called_from(line)))


def crash_answers(crash: Crash) -> Answers:
    """Why a process died, by its core file; () where there is none."""
    stacks = crash.stacks
    if isinstance(stacks, Unknown) or isinstance(crash.signal, Unknown):
        return Answers(())
    died = next((one for one in stacks.threads if one.thread_id == crash.thread_id), None)
    where, line = _place(died.frames if died else ())
    fault = crash.fault if isinstance(crash.fault, Unknown) else SignalCause(crash.fault, 0)
    return Answers((_answer(crash.signal, f"{where} {_what(crash.signal, fault)}."), *_called_from(line)))


def _answer(signal: str, text: str) -> Answer:
    return answer(f"crash-{signal.lower()}", text, "stop.fault")


def _place(frames: Sequence[Frame]) -> tuple[str, str]:
    """The C function at fault with its line and, where that is a library's, the one that called it; Python's
    line under it."""
    native = [one for one in frames if one.kind == "native" and not _ENDING.fullmatch(one.function)]
    top = native[0] if native else None
    line = _python_line([one.line for one in frames if one.kind == "python" and isinstance(one.line, str)])
    if top is None:
        return "The process", line
    own = next((one for one in native if isinstance(one.line, str) and not one.plumbing), top)
    by = f", called by {_named(own)}," if own is not top else ""
    return f"{_named(top)}{by}", line


def _python_line(lines: Sequence[str]) -> str:
    """The innermost line of the user's own, else of Python: "ctypes/__init__.py:519" says little."""
    return next(filter(is_own, lines), lines[0] if lines else "")


def _named(frame: Frame) -> str:
    """ "`f` (ext.c:12)"; without a line its library."""
    where = frame.line if isinstance(frame.line, str) else frame.library
    short = where.rpartition("/")[2] if isinstance(where, str) else ""
    return f"{code(frame.function)}{f' ({short})' if short else ''}"


def _what(signal: str, fault: SignalCause | Unknown) -> str:
    """What it did: "used address 8, which is no memory: a pointer is NULL (SIGSEGV)"."""
    if signal == "SIGABRT":
        return "ended the process itself (SIGABRT)"
    if signal == "SIGFPE":
        divided = not isinstance(fault, Unknown) and fault.code == 1
        return "divided an integer by zero (SIGFPE)" if divided else "made an arithmetic error (SIGFPE)"
    if signal not in ("SIGSEGV", "SIGBUS"):
        return f"was ended by {signal}"
    if isinstance(fault, Unknown):
        return f"was ended by {signal}: {fault.reason}"
    return f"used address {_address(fault)} ({signal})"


def _address(fault: SignalCause) -> str:
    if 0 < fault.address < FIRST_PAGE or (fault.address == 0 and fault.code != UNTOLD):
        return f"{int(fault.address)}, as a NULL pointer does"
    if fault.code == UNTOLD:
        return "?: it is none that a pointer can have, or the kernel does not tell it"
    why = {1: ", where no memory is", 2: ", which it may not read or write so"}.get(fault.code, "")
    return f"{fault.address:#x}{why}"


def _null_pointer(stop: Stop) -> str:
    """The one variable of the stopped line that is a NULL pointer; "" where there is none or several are."""
    fault = stop.fault
    if isinstance(fault, Unknown) or fault.address >= FIRST_PAGE or isinstance(stop.line, Unknown):
        return ""
    number = int(stop.line.rpartition(":")[2])
    text = dict(stop.source).get(number, "")
    nulls = {
        name
        for one in stop.variables
        if re.search(rf"\b{re.escape(one.name)}\b", text)
        for name in _nulls(one)
    }
    return nulls.pop() if len(nulls) == 1 else ""


def _nulls(variable: Argument) -> Iterator[str]:
    """The variable, or its members, that are NULL pointers: "v.data" of v {n = 3, data = 0x0}."""
    value = str(variable.value)
    if "*" in variable.type_name and value in ("NULL", "0x0", "0"):
        yield variable.name
    if value.startswith("{"):
        yield from (f"{variable.name}.{member}" for member in re.findall(r"(\w+) = 0x0\b", value))


def is_own(line: str) -> bool:
    """Whether "file:line" is none of Python's own files and of no installed package."""
    return not any(part in line for part in _INSTALLED)


def _called_from(line: str) -> Iterator[Answer]:
    if line:
        yield answer("crash-called-from", f"Python was at {line.rpartition('/')[2]}.", "stop.stack")
