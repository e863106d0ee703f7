"""Stacks in which native and Python frames stand in their true order, and what breakpoints collected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from inspector.facts.unknown import Unknown

Evidence = Literal["debug", "prototype", "register"]
"""How an argument is known: debug information, a prototype that was given, or only a register's raw word."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or local of a native frame."""

    name: str
    type_name: str
    """As the compiler wrote it; "" for a register."""
    value: str | Unknown
    """Bounded text, read from memory: nothing was called in the program."""
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack."""

    kind: Literal["native", "python", "r"]
    """"r": a function of R, from its chain of contexts."""
    function: str
    """Demangled; "0x..." where no symbol names the place."""
    library: str | Unknown
    """File name of the library or program; of a Python frame the file of its code."""
    line: str | Unknown
    """"file:line", where the debug information or the code object says it."""
    plumbing: bool
    """A frame of the interpreter's own between a call and the function called."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One thread's frames, the innermost first."""

    thread_id: int
    """As the kernel numbers it (gettid(2)); `threading.get_native_id()`."""
    name: str
    frames: tuple[Frame, ...]
    python: str | Unknown
    """The version whose frames were read, or why no Python frame could be."""
    cut: bool
    """True where the stack is deeper than what was read."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One time a breakpoint was reached."""

    number: int
    """From 1, in the order of the hits."""
    place: str
    """As it was typed."""
    at_ns: int
    """CLOCK_MONOTONIC (clock_gettime(2))."""
    arguments: tuple[Argument, ...] | Unknown
    stack: Stack


@dataclass(frozen=True, slots=True)
class PlaceCount:
    """What became of one place that was asked for."""

    place: str
    locations: int
    """Addresses it stands for: overloads, clones; 0 while its library is not loaded."""
    hits: int
    """Counted, whether recorded or not."""
    says: str
    """"" or one sentence: pending, budget reached, not found."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What a session of breakpoints recorded: places, hits, how long the process stood still."""

    places: tuple[PlaceCount, ...]
    hits: tuple[Hit, ...]
    dropped: int
    """Hits that were counted and not recorded."""
    frozen_ns: int
    """How long the whole process stood still while gdb attached."""
    stopped_ns: int
    """Spent at the hits themselves."""
    ended: str
    """"" where all went well; else one sentence: how gdb ended, what was healed."""
    means: str = "gdb"
    """What collected: gdb, or the processor's own breakpoints."""

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class Stacks:
    """The threads of a process at a time."""

    pid: int
    program: str
    threads: tuple[Stack, ...]
    read_ns: int


@dataclass(frozen=True, slots=True)
class Stop:
    """A process that stands still under gdb: where, its variables, its stack."""

    reason: str
    """"breakpoint", "step", "watchpoint" or the name of a signal; "" where it stood already."""
    function: str
    """Of the frame that is selected (up, down)."""
    line: str | Unknown
    """"file:line" of that frame."""
    variables: tuple[Argument, ...]
    """Its arguments and locals."""
    says: tuple[Argument, ...]
    """What was asked by print or watch."""
    stack: Stack
