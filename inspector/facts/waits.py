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
class Task:
    """One task of an event loop that has not ended."""

    name: str
    coroutine: str
    """The qualified name of what it runs."""
    function: str
    """Of the innermost of its coroutines that is the user's own, where there is one."""
    line: str | Unknown
    """"file:line" of that one."""
    what: str
    """In words what it awaits: "a lock", "the task `fetch`"."""
    for_tasks: bool = False
    """It waits for other tasks alone."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of asyncio's event loops."""

    rows: tuple[Task, ...]
    left_out: int = 0

    def groups(self) -> list[list[Task]]:
        """Those that await the same in one line together."""
        found: dict[tuple[str, str, str], list[Task]] = {}
        for task in self.rows:
            line = "" if isinstance(task.line, Unknown) else task.line
            found.setdefault((task.coroutine, task.what, line), []).append(task)
        return [*found.values()]

    def __len__(self) -> int:
        return len(self.rows) + self.left_out

    def __iter__(self) -> Iterator[Task]:
        return iter(self.rows)


NO_TASKS = Tasks(())


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
    tasks: Tasks | Unknown = NO_TASKS

    def __len__(self) -> int:
        return len(self.threads)

    def __iter__(self) -> Iterator[Wait]:
        return iter(self.threads)
