"""Python's locks of a stopped process: which lock a thread waits for, who holds it, what the user calls it.

Up to 3.13 a lock is a semaphore of its own, on which its waiters sleep; from 3.14 on it is one byte, and
waiters sleep elsewhere (Modules/_threadmodule.c, Include/internal/pycore_lock.h). A plain lock does not say
who took it: a `with` statement does, because its `__exit__` waits on the evaluation stack.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspector.debugger.memory.remote_memory import Unreadable
from inspector.debugger.waiting.python_threads import Frame, PythonThread, PythonThreads

LOCKS: Final = ("_thread.lock", "_thread.RLock")
_PARKED: Final = 14
"""The first minor version whose locks are bytes."""
_FIRST: Final = 16
"""In a lock: its semaphore, or its byte."""
_OWNER: Final = 24
"""In an RLock: pthread_self() of its owner."""
_METHOD, _SELF = 16, 24
"""In a built-in method: its definition, whose first word is its name; and its object."""


class Lock(NamedTuple):
    """A lock object: its address, and whether it is an RLock."""

    address: int
    is_rlock: bool


class Locks:
    """The locks of one process's threads."""

    def __init__(self, threads: PythonThreads) -> None:
        self._threads, self._objects, self._word = threads, threads.objects, threads.word
        self._parked = threads.found.where.minor >= _PARKED
        self._with = self._taken_by_with()
        self._names: dict[int, str] = {}

    def waited_for(self, thread: PythonThread, futex: int) -> Lock | None:
        """The lock that the thread's innermost frame waits for at `futex`; None if that is no Python lock."""
        if not thread.frames:
            return None
        frame = thread.frames[0]
        values = [*self._threads.stack(frame), *self._threads.variables(frame).values()]
        found = {lock.address: lock for value in values for lock in self._locks_of(value)}
        if not self._parked:
            return next((one for one in found.values() if self._word(one.address + _FIRST) == futex), None)
        taken = [one for one in found.values() if self._is_taken(one)]
        held = [one for one in taken if one.address not in self._own(thread)]
        return held[0] if len(held) == 1 else None

    def holders(self, lock: Lock) -> tuple[int, ...]:
        """The threads that hold a lock: an RLock says it itself, another one where `with` took it."""
        if lock.is_rlock:
            owner = self._word(lock.address + _OWNER)
            return tuple(one.id for one in self._threads.threads if owner and one.ident == owner)
        return tuple(self._with.get(lock.address, ()))

    def unknown(self, lock: Lock) -> str:
        """Why no thread is known to hold a lock that is taken."""
        if lock.is_rlock and self._word(lock.address + _OWNER):
            return "the thread that took it has ended"
        return "a lock that `acquire()` took does not say by whom"

    def name(self, lock: Lock) -> str:
        """What the user calls a lock: a global, an attribute of `self`, a variable; "" without a name."""
        if lock.address not in self._names:
            self._names[lock.address] = next(iter(self._named(lock.address)), "")
        return self._names[lock.address]

    def _own(self, thread: PythonThread) -> set[int]:
        return {lock for lock, holders in self._with.items() if thread.id in holders}

    def _is_taken(self, lock: Lock) -> bool:
        return bool(self._objects.memory.read(lock.address + _FIRST, 1)[0] & 1)

    def _taken_by_with(self) -> dict[int, list[int]]:
        """Lock -> the threads in whose `with` statements it is held."""
        found: dict[int, list[int]] = {}
        for thread in self._threads.threads:
            for frame in thread.frames:
                for lock in self._entered(frame):
                    found.setdefault(lock, []).append(thread.id)
        return found

    def _entered(self, frame: Frame) -> Iterator[int]:
        """The locks whose `__exit__` a `with` statement of the frame will call."""
        values = self._threads.live(frame)
        for value, after in zip(values, [*values, 0][1:], strict=True):
            try:
                yield from self._exit_of(value, after)
            except Unreadable:
                continue

    def _exit_of(self, value: int, after: int) -> Iterator[int]:
        """The lock of a bound `__exit__`; 3.14 has the function and the lock beside each other."""
        kind = self._type(value)
        if kind not in ("builtin_function_or_method", "method_descriptor"):
            return
        method = self._word(value + _METHOD) if kind.startswith("builtin") else 0
        if method and self._objects.memory.text(self._word(method), 20) != "__exit__":
            return
        lock = self._word(value + _SELF) if method else after
        if self._type(lock) in LOCKS:
            yield lock

    def _locks_of(self, value: int) -> Iterator[Lock]:
        """The lock that a value is, or whose method it is."""
        for address in (value, self._bound(value)):
            if (kind := self._type(address)) in LOCKS:
                yield Lock(address, kind == LOCKS[1])

    def _bound(self, value: int) -> int:
        return self._word(value + _SELF) if self._type(value) == "builtin_function_or_method" else 0

    def _type(self, address: int) -> str:
        try:
            return self._objects.type_name(address) if address > 1 << 12 else ""
        except (Unreadable, UnicodeDecodeError):
            return ""

    def _named(self, lock: int) -> Iterator[str]:
        seen = [(thread, frame) for thread in self._threads.threads for frame in thread.frames]
        for naming in (self._global, self._attribute, self._variable):
            for _, frame in seen:
                try:
                    if name := naming(frame, lock):
                        yield name
                except Unreadable:
                    continue

    def _global(self, frame: Frame, lock: int) -> str:
        """The name in the frame's module."""
        at = frame.address + (8 if self._threads.found.where.minor == 11 else 24)
        names = self._objects.text_items(self._word(at))
        return next((name for name, value in names if value == lock), "")

    def _attribute(self, frame: Frame, lock: int) -> str:
        variables = self._threads.variables(frame)
        if "self" not in variables or variables["self"] == lock:
            return ""
        attributes = self._objects.attributes(variables["self"])
        name = next((name for name, value, _ in attributes if value == lock), "")
        return f"{self._objects.type_name(variables['self']).rpartition('.')[2]}.{name}" if name else ""

    def _variable(self, frame: Frame, lock: int) -> str:
        return next((name for name, value in self._threads.variables(frame).items() if value == lock), "")
