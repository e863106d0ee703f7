"""What each thread of a stopped Python waits for: read from /proc, futexes, and Python's own structures."""

# SPDX-License-Identifier: MIT
import struct
import time
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from inspector.binaries.symbol_table import elf, symbol_table
from inspector.debugger.attach.object_layout import LOCK_CONDITION, LOCK_HOLDER, LOCKED
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.debugger.waiting.locks import Lock, Locks
from inspector.debugger.waiting.python_threads import Frame, PythonThread, PythonThreads
from inspector.debugger.waiting.system_calls import FUTEX, RESTARTED, Call, call_of, outside
from inspector.debugger.waiting.tasks import tasks
from inspector.facts.unknown import Address, Unknown
from inspector.facts.waits import Wait, WaitKind, Waits

CONDITION_BYTES: Final = 48
"""sizeof(pthread_cond_t) of glibc on x86-64."""
_WAIT, _WAIT_BITSET = 0, 9
"""Operations of futex(2), without their flags."""
_CONTENDED: Final = 2
"""The value on which glibc's waiters for a mutex sleep (nptl/lowlevellock.h)."""
_NOTICES: Final = {
    "Condition.wait": "to be notified", "Event.wait": "an event to be set", "Queue.get": "an item of a queue",
    "Queue.put": "room in a queue", "Barrier.wait": "others at a barrier", "Semaphore.acquire": "a semaphore",
    "Future.result": "the result of a Future", "wait": "futures to end",
}  # fmt: skip
"""Functions of threading, queue and concurrent.futures -> what they wait for; the outermost says most."""


class _Found(NamedTuple):
    kind: WaitKind
    what: str
    address: Address | Unknown
    holders: tuple[int, ...] | Unknown


_NOWHERE: Final = Unknown("it waits at no address")
_RUNS: Final = _Found("runs", "", _NOWHERE, ())


def waits(memory: RemoteMemory, found: Runtime) -> Waits:
    """The waits of all threads that Python knows, and of those that hold what they wait for."""
    begin = time.perf_counter_ns()
    reader = _Reader(memory, found)
    rows = list(reader.rows())
    program = proc.program(memory.pid)
    found_tasks = tasks(reader.python)
    gil, spent = reader.gil_holder(), time.perf_counter_ns() - begin
    return Waits(memory.pid, program, gil, tuple(rows), spent, tasks=found_tasks)


class _Reader:
    def __init__(self, memory: RemoteMemory, found: Runtime) -> None:
        self._memory, self._found = memory, found
        self.python = PythonThreads(Objects(memory, found.frames, found.where), found)
        self._locks = Locks(self.python)
        gil = found.interpreter + found.where.lock
        self._gil = found.address + found.where.lock if found.where.minor == 11 else memory.word(gil)
        self._tasks = proc.threads(memory.pid)

    def gil_holder(self) -> int | Unknown:
        """The thread that holds the GIL; 0 if none does."""
        if struct.unpack("<i", self._memory.read(self._gil + LOCKED, 4))[0] != 1:
            return 0
        state = self._memory.word(self._gil + LOCK_HOLDER)
        holders = [one.id for one in self.python.threads if one.state == state]
        return holders[0] if holders else Unknown("a thread of another interpreter holds it")

    def rows(self) -> Iterator[Wait]:
        """Python's threads, the oldest first; then threads of C that hold what another thread waits for."""
        left = list(reversed(self.python.threads))
        seen = {thread.id for thread in left}
        while left:
            row = self._wait(left.pop(0))
            yield row
            if row.kind in ("mutex", "rlock") and not isinstance(row.holders, Unknown):
                left += [PythonThread(0, one, 0, ()) for one in row.holders if one not in seen]
                seen.update(row.holders)

    def _wait(self, thread: PythonThread) -> Wait:
        call = call_of(self._memory.pid, thread.id)
        found = self._waits_for(thread, call) if call else _RUNS
        own = self.python.own(thread)
        main = "MainThread" if thread.state and thread.id == self._memory.pid else ""
        name = self.python.names.get(thread.ident) or main or proc.thread_name(self._memory.pid, thread.id)
        line = self.python.line(own) if own else Unknown("it has no frame of Python")
        function = self.python.function(own) if own else Unknown("it has no frame of Python")
        timed = found.kind != "gil" and call is not None and call.number == FUTEX and call.arguments[3] != 0
        return Wait(thread.id, name, *found, line, function, timed)

    def _waits_for(self, thread: PythonThread, call: Call) -> _Found:
        if call.number not in (FUTEX, RESTARTED) or call.arguments[1] & 0x7F not in (_WAIT, _WAIT_BITSET):
            kind, what, holders = outside(self._memory.pid, call)
            return _Found(kind, what, _NOWHERE, holders)
        at, value = call.arguments[0], call.arguments[2] & 0xFFFFFFFF
        try:
            return next(self._of_futex(thread, at, value))
        except Unreadable:
            return _Found("futex", "a futex", Address(at), Unknown("its memory cannot be read"))

    def _of_futex(self, thread: PythonThread, at: int, value: int) -> Iterator[_Found]:
        if 0 <= at - self._gil - LOCK_CONDITION < CONDITION_BYTES:
            holder = self.gil_holder()
            known = holder if isinstance(holder, Unknown) else (holder,) * bool(holder)
            yield _Found("gil", "the GIL", Address(at), known)
        yield from self._ended(thread, at)
        yield from self._noticed(thread, at)
        if lock := self._locks.waited_for(thread, at):
            yield self._of_lock(lock)
        if value == _CONTENDED:
            yield from self._mutex(at)
        yield _Found(
            "futex", "a lock or condition of C", Address(at), Unknown("no field there says who holds it")
        )

    def _of_lock(self, lock: Lock) -> _Found:
        kind: WaitKind = "rlock" if lock.is_rlock else "lock"
        word = "RLock" if lock.is_rlock else "lock"
        name = self._locks.name(lock)
        what = f"the {word} `{name}`" if name else f"{'an' if lock.is_rlock else 'a'} {word} without a name"
        holders = self._locks.holders(lock) or Unknown(self._locks.unknown(lock))
        return _Found(kind, what, Address(lock.address), holders)

    def _ended(self, thread: PythonThread, at: int) -> Iterator[_Found]:
        """A thread that `Thread.join` waits for; at the end of Python all of them."""
        for frame in thread.frames[:3]:
            if not self.python.file(frame).endswith("threading.py"):
                return
            function = self.python.function(frame)
            if function == "_shutdown":
                others = tuple(one.id for one in self.python.threads if one is not thread)
                yield _Found("thread", "the other threads to end", Address(at), others)
            if function == "Thread.join":
                yield self._joined(frame, at)

    def _joined(self, frame: Frame, at: int) -> _Found:
        objects = self.python.objects
        one = self.python.variables(frame).get("self", 0)
        said = {name: value for name, value, _ in objects.attributes(one)}
        ident = objects.values.brief(said.get("_ident", 0))
        ended = tuple(each.id for each in self.python.threads if str(each.ident) == ident)
        name = objects.text(said.get("_name", 0))
        return _Found("thread", f"thread `{name}` to end", Address(at), ended)

    def _noticed(self, thread: PythonThread, at: int) -> Iterator[_Found]:
        """What must be notified: a condition, an event, a queue."""
        told = ""
        for frame in thread.frames[:4]:
            if PurePath(self.python.file(frame)).name not in ("threading.py", "queue.py", "_base.py"):
                break
            told = _NOTICES.get(self.python.function(frame), told)
        if told:
            yield _Found("notice", told, Address(at), Unknown("any thread may do it"))

    def _mutex(self, at: int) -> Iterator[_Found]:
        """A pthread_mutex_t of glibc: lock, count, owner, users, kind (nptl, struct __pthread_mutex_s)."""
        lock, _, owner, _, kind = struct.unpack("<iIiIi", self._memory.read(at, 20))
        if lock == _CONTENDED and 0 <= kind & 0x7F <= 3 and owner in self._tasks:
            yield _Found("mutex", f"a mutex{self._place(at)}", Address(at), (owner,))

    def _place(self, at: int) -> str:
        """Of a variable in a library: " `lock` of libbank.so"; "" elsewhere."""
        pid, library, end = self._memory.pid, "", 0
        for start, stop, _, _, _, path in proc.maps(pid):
            library = path if path else library if start == end else ""
            if start <= at < stop:
                break
            end = stop
        if not library.startswith("/"):
            return ""
        real = proc.mapped_file(pid, library)
        file, table = elf(real, (), ()), symbol_table(real)
        code = next((row for row in proc.code(pid) if row.path == library), None)
        if isinstance(file, Unknown) or isinstance(table, Unknown) or code is None:
            return ""
        named = table.find(at - (code.start - file.address(code.file_offset)))
        return f" `{named[0]}` of {PurePath(library).name}" if named else ""
