"""Stacks with native and Python frames in their true order, and the hits of breakpoints."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from inspector.facts.unknown import Address, Unknown

NO_FAULT: Final = Unknown("no address is at fault")
UNTOLD: Final = 0x80
"""SI_KERNEL, a si_code: the kernel tells no address. The pointer is none that can exist, as a rule."""
Evidence = Literal["debug", "prototype", "register"]
"""Source of an argument: debug information, a prototype the user passed, or only a register's raw value."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or local of a native frame."""

    name: str
    type_name: str
    """From the debug information; "" for a register."""
    value: str | Unknown
    """Bounded text, read from memory; no function of the program is called."""
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack."""

    kind: Literal["native", "python", "r"]
    """"r": an R function, from R's chain of contexts."""
    function: str
    """Demangled; "0x..." if there is no symbol."""
    library: str | Unknown
    """File name of the library or program; for a Python frame the file of its code."""
    line: str | Unknown
    """"file:line", from the debug information or the code object."""
    plumbing: bool
    """An interpreter frame between a call and the called function."""
    call: str = ""
    """Of an R function the call as R holds it: "py$x"; of the outermost one the script's line, if found."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One thread's frames, the innermost first."""

    thread_id: int
    """The kernel's thread id (gettid(2)), `threading.get_native_id()`."""
    name: str
    frames: tuple[Frame, ...]
    python: str | Unknown
    """The Python version whose frames were read; if none could be read, why."""
    cut: bool
    """True if the stack is deeper than what was read."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a breakpoint."""

    number: int
    """From 1, in the order of the hits."""
    place: str
    """The location as the user typed it."""
    at_ns: int
    """CLOCK_MONOTONIC (clock_gettime(2))."""
    arguments: tuple[Argument, ...] | Unknown
    stack: Stack


@dataclass(frozen=True, slots=True)
class PlaceCount:
    """The result for one requested location."""

    place: str
    locations: int
    """Number of addresses it resolves to (overloads, clones); 0 while its library is not loaded."""
    hits: int
    """All hits, recorded or not."""
    says: str
    """"" or one sentence: pending, budget reached, not found."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The column `breaks`: what a breakpoint session collected."""

    places: tuple[PlaceCount, ...]
    hits: tuple[Hit, ...]
    dropped: int
    """Hits that were counted but not recorded."""
    frozen_ns: int
    """How long the whole process was stopped while gdb attached."""
    stopped_ns: int
    """Time the process was stopped at the hits."""
    ended: str
    """"" after a normal end; else one sentence: how gdb ended, what was restored."""
    means: str = "gdb"
    """What collected the hits: gdb, or hardware breakpoints."""
    at_startup: int = 0
    """Hits while R's packages and Python started, which were left out."""
    of_python: int = 0
    """Hits that no code of the host itself led to, which were left out."""

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class Stacks:
    """The threads of a process at one moment."""

    pid: int
    program: str
    threads: tuple[Stack, ...]
    read_ns: int


@dataclass(frozen=True, slots=True)
class SignalCause:
    """What SIGSEGV, SIGBUS or SIGFPE is about: siginfo_t of sigaction(2)."""

    address: Address
    """si_addr: the memory that was used, or for SIGFPE the instruction."""
    code: int
    """si_code: 1 of SIGSEGV is SEGV_MAPERR, 2 is SEGV_ACCERR; 1 of SIGFPE is FPE_INTDIV."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A process that is stopped for interactive debugging."""

    reason: str
    """"breakpoint", "step", "watchpoint" or the name of a signal; "" if it was already stopped."""
    function: str
    """Function of the selected frame (up, down)."""
    line: str | Unknown
    """"file:line" of that frame."""
    variables: tuple[Argument, ...]
    """Its arguments and locals."""
    says: tuple[Argument, ...]
    """Answers to print and watch."""
    stack: Stack
    fault: SignalCause | Unknown = NO_FAULT
    source: tuple[tuple[int, str], ...] = ()
    """Numbers and texts of the lines around `line`, where its file is at hand."""
