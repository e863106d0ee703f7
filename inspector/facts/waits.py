"""What each thread of a process waits for, and which thread holds it."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from inspector.facts.unknown import Address, Unknown

WaitKind = Literal[
    "gil", "mutex", "lock", "rlock", "notice", "thread",
    "input", "time", "process", "file", "futex", "call", "runs",
]  # fmt: skip
"""`notice`: a condition, event or queue that another thread must notify; `futex`: a lock of C that is no
mutex; `call`: another system call; `runs`: the thread does not wait."""


@dataclass(frozen=True, slots=True)
class Wait:
    """One thread of Python, or one that holds what such a thread waits for."""

    thread_id: int
    """The kernel's thread id (gettid(2)), `threading.get_native_id()`."""
    name: str
    """`Thread.name`; the kernel's name where Python has none."""
    kind: WaitKind
    what: str
    """In words: "the GIL", "the lock `first`", "input from a pipe (fd 3)"; "" if it runs."""
    address: Address | Unknown
    """Of the mutex, lock or futex."""
    holders: tuple[int, ...] | Unknown
    """The threads, or for `process` and `file` the processes, that must act first; () if there is none."""
    line: str | Unknown
    """"file:line" of its innermost Python frame outside the standard library."""
    function: str | Unknown
    timed: bool = False
    """The wait ends by itself after a deadline."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The threads of a process, and what each waits for."""

    pid: int
    program: str
    gil_holder: int | Unknown
    """The thread that holds the GIL; 0 if none does."""
    threads: tuple[Wait, ...]
    read_ns: int
    stood_still: bool = True
    """Whether the process was stopped while it was read; else its threads went on."""

    def __len__(self) -> int:
        return len(self.threads)

    def __iter__(self) -> Iterator[Wait]:
        return iter(self.threads)
