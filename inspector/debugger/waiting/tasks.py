"""The tasks of a stopped process's event loops: what each awaits, read along its coroutines."""

# SPDX-License-Identifier: MIT
import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import Final, NamedTuple

from inspector.debugger.attach import object_layout as at
from inspector.debugger.memory.python_layout import UNTAGGED
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.debugger.waiting.python_threads import Frame, PythonThreads, is_of_library
from inspector.facts.unknown import Unknown
from inspector.facts.waits import Task, Tasks

MOST_TASKS: Final = 2_000
MOST_AWAITED: Final = 100
"""Coroutines that await each other."""
_LISTS: Final = ("_scheduled_tasks", "_all_tasks", "_eager_tasks")
"""Sets of asyncio.tasks: from 3.12 on, of 3.11, of tasks that began at once."""
_SET_MASK, _SET_TABLE, _SET_ENTRIES_MAX = 32, 40, 1 << 20
"""In a set (Include/cpython/setobject.h): its table's last index, its table."""
_REFERENT: Final = 16
"""In a weak reference, a coroutine's wrapper, an iterator of a future: the object that it is for."""
_TOP: Final = 64
"""In a frame of 3.11 to 3.13: how many places of it are in use (stacktop)."""
_STATE: Final = 5
"""Before a coroutine's frame: its state (gi_frame_state), the last of four bytes, then padding."""
_LAST: Final = 13
"""Later versions keep tasks in a list of C's own."""
_INSTALLED: Final = re.compile(r"/(site|dist)-packages/")
_COROUTINES: Final = ("coroutine", "generator", "async_generator")
_WRAPPERS: Final = ("coroutine_wrapper", "async_generator_asend", "_asyncio.FutureIter")
_SAID: Final = {
    "sleep": "the end of a sleep", "Lock.acquire": "a lock", "Event.wait": "an event to be set",
    "Condition.wait": "to be notified", "Semaphore.acquire": "a semaphore",
    "Barrier.wait": "others at a barrier",
    "Queue.get": "an item of a queue", "Queue.put": "room in a queue", "Queue.join": "a queue to be done",
    "StreamReader.read": "data", "StreamReader.readline": "data", "StreamReader.readuntil": "data",
    "StreamReader.readexactly": "data", "StreamWriter.drain": "room to write",
    "open_connection": "a connection", "to_thread": "a thread's result", "wait": "futures to end",
    "wait_for": "a result, with a deadline", "Server.serve_forever": "connections",
    "Process.wait": "a process to end", "TaskGroup.__aexit__": "the tasks of its group",
}  # fmt: skip
"""Coroutines of asyncio -> what they wait for; the outermost says most."""
_FOR_TASKS: Final = ("the task", "several tasks, gathered", "the tasks of its group", "futures to end")


class _Coroutine(NamedTuple):
    frame: Frame
    function: str
    file: str


def tasks(python: PythonThreads) -> Tasks | Unknown:
    """The tasks that have not ended; none where asyncio is not imported."""
    return _Reader(python).found()


class _Reader:
    def __init__(self, python: PythonThreads) -> None:
        self._python, self._objects, self._word = python, python.objects, python.objects.memory.word

    def found(self) -> Tasks | Unknown:
        """The tasks, or why they are not known."""
        try:
            module = self._objects.named(self._python.found.modules, "asyncio.tasks")
            if not module:
                return Tasks(())
            if (minor := self._objects.where.minor) > _LAST:
                return Unknown(f"the tasks of Python 3.{minor} are in a list of C that is not read")
            known = dict(self._objects.text_items(self._objects.own_dict(module)))
            every = [task for name in _LISTS for task in self._members(known.get(name, 0))]
        except Unreadable as error:
            return Unknown(f"the tasks cannot be read at {error}")
        rows = (self._task(one) for one in dict.fromkeys(every[:MOST_TASKS]))
        made = tuple(sorted((row for row in rows if row is not None), key=_order))
        return Tasks(made, max(len(every) - MOST_TASKS, 0))

    def _members(self, address: int) -> Iterator[int]:
        """What a set has, or a WeakSet refers to."""
        if not address:
            return
        weak = self._objects.type_name(address) == "WeakSet"
        if weak:
            address = {name: value for name, value, _ in self._objects.attributes(address)}.get("data", 0)
        count = self._word(address + _SET_MASK) + 1
        if not address or count > _SET_ENTRIES_MAX:
            raise Unreadable(f"{address:#x}")
        raw = self._objects.memory.read(self._word(address + _SET_TABLE), 16 * count)
        for key, hashed in struct.iter_unpack("<Qq", raw):
            if key and hashed != -1:  # else an entry that was removed
                one = self._word(key + _REFERENT) if weak else key
                if self._kind(one) not in ("", "NoneType"):  # else it is freed
                    yield one

    def _task(self, task: int) -> Task | None:
        """A task; None where it has ended, or cannot be read."""
        try:
            coroutine, name = self._parts(task)
            chain = list(self._chain(coroutine)) if coroutine else []
        except (Unreadable, UnicodeDecodeError, struct.error):
            return None
        if not chain:
            return None
        own = _own(chain)
        line = self._python.line(own.frame)
        what = self._awaited(chain, own, coroutine)
        for_tasks = what.partition(" `")[0] in _FOR_TASKS
        return Task(name, chain[0].function, own.function, line, what, for_tasks)

    def _parts(self, task: int) -> tuple[int, str]:
        """A task's coroutine and name: in C the word that is one, and the word behind it."""
        kind = self._objects.type_of(task)
        size = min(self._word(kind + at.TYPE_BASE_SIZE), 400)
        words = struct.unpack(f"<{size // 8}Q", self._objects.memory.read(task, size // 8 * 8))
        for one, name in pairwise(words):
            if self._kind(one) in _COROUTINES:
                return one, self._name(name)
        said = {name: value for name, value, _ in self._objects.attributes(task)}
        return said.get("_coro", 0), self._name(said.get("_name", 0))

    def _name(self, address: int) -> str:
        text = self._objects.text(address) if address else None
        brief = self._objects.values.brief(address) if address and text is None else ""
        return text if text is not None else f"Task-{brief}" if brief.isdigit() else ""

    def _kind(self, address: int) -> str:
        """The name of a possible object's type; "" where there is none."""
        try:
            kind = self._word(address + 8) if address and not address % 8 else 0
            return self._objects.values.type_name_of(kind) if kind else ""
        except Unreadable:
            return ""

    def _chain(self, one: int) -> Iterator[_Coroutine]:
        """The coroutines that await each other, outermost first."""
        for _ in range(MOST_AWAITED):
            kind = self._kind(one)
            if kind in _WRAPPERS[:2]:
                one = self._word(one + _REFERENT)
                continue
            if kind not in _COROUTINES or self._state(one) > 0:
                return
            frame = self._frame(one)
            yield _Coroutine(frame, self._python.function(frame), self._python.file(frame))
            if self._state(one) == 0:  # it runs
                return
            one = self._top(frame)

    def _state(self, one: int) -> int:
        """The state of a coroutine's frame (gi_frame_state): below 0 it is suspended, above it has ended."""
        place = one + self._objects.where.generator_frame - _STATE
        found: int = struct.unpack("<b", self._objects.memory.read(place, 1))[0]
        return found

    def _frame(self, one: int) -> Frame:
        return self._python.frame(one + self._objects.where.generator_frame)

    def _top(self, frame: Frame) -> int:
        """What a suspended frame awaits: the last value on its stack; 0 for none."""
        count = struct.unpack("<i", self._objects.memory.read(frame.address + _TOP, 4))[0]
        place = frame.address + self._objects.where.frame_variables + 8 * (count - 1)
        return self._word(place) & UNTAGGED if 0 < count < 10_000 else 0

    def _awaited(self, chain: list[_Coroutine], own: _Coroutine, coroutine: int) -> str:
        """In words what a task waits for; "" if it runs."""
        if self._state(coroutine) == 0:
            return ""
        if self._is_new(coroutine):
            return "its turn to begin"
        below = chain[chain.index(own) + 1 :]
        for one in below:
            if PurePath(one.file).parent.name == "asyncio" and one.function in _SAID:
                return _SAID[one.function]
        return self._end(chain[-1])

    def _is_new(self, coroutine: int) -> bool:
        """Whether its first line has not begun."""
        return self._state(coroutine) == (-2 if self._objects.where.minor == 11 else -3)

    def _end(self, last: _Coroutine) -> str:
        """The future at the end of a chain."""
        one = self._top(last.frame)
        kind = self._kind(one)
        if kind == _WRAPPERS[2]:
            one = self._word(one + _REFERENT)
            kind = self._kind(one)
        if kind == "_asyncio.Task":
            return f"the task `{self._parts(one)[1]}`"
        return (
            "several tasks, gathered"
            if kind == "_GatheringFuture"
            else "a future"
            if kind
            else "its next turn"
        )


def _own(chain: list[_Coroutine]) -> _Coroutine:
    """The innermost of the user's own, else of an installed library, else the outermost."""
    outside = [one for one in reversed(chain) if not is_of_library(one.file)]
    users = (one for one in outside if not _INSTALLED.search(one.file))
    return next(users, outside[0] if outside else chain[0])


def _order(task: Task) -> tuple[str, int, str]:
    return task.coroutine, len(task.name), task.name
