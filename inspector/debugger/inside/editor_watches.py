"""Inside gdb: data breakpoints of an editor: who writes to some bytes, their values before and after.

Up to 32 bytes are the processor's watchpoints. A wider range is watched inside the process, by protected
pages (native/watch/pages.c): a thread that wrote gets SIGURG behind its store, with the record's address.
"""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import gdb

from inspector.debugger.inside.collecting import Collection, PlaceBreakpoint
from inspector.debugger.inside.editor_places import Note, Reached, at_hit, of_the_debugger
from inspector.debugger.inside.native_values import symbols
from inspector.debugger.inside.target_reader import frames_of
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.facts.unknown import Unknown

_TYPES: Final = {8: "unsigned long", 4: "unsigned int", 2: "unsigned short", 1: "unsigned char"}
_ACCESS: Final = {"write": gdb.WP_WRITE, "readWrite": gdb.WP_ACCESS}
_PAGES: Final = ("handle SIGURG stop print pass", "handle SIGTRAP nostop print pass")
"""The watch inside the process has signals of its own, and its handler must get them."""
_DEPTH: Final = 200
_SI_QUEUE: Final = -1
_RECORD: Final = struct.Struct("<7Qii")
"""Of watch/writes.h, writes_record: at_ns, before, after, pc, address, bytes, stores, thread, size."""
OBJECT: Final = "O"
"""In place of struct's format letter: the address of a Python object."""


class Watch:
    """One data breakpoint. `refused` says why it is not set."""

    def __init__(
        self, collection: Collection, place: dict[str, Any], note: Note, over: Callable[["Watch"], None]
    ) -> None:
        self.collection, self.place, self.note = collection, place, note
        self.number: int = place["number"]
        self.hits, self.refused = 0, ""
        self.placed: list[Watchpoint] = []
        self.last = self._bytes()
        self.end: Returned | None = None
        try:
            if place["scope"]:
                self.end = Returned(self, _frame(*place["scope"]), over)
            for address, size in place["words"]:
                self.placed.append(Watchpoint(self, f"*({_TYPES[size]} *){address:#x}"))
        except (gdb.error, RuntimeError, ValueError) as error:
            self.refused = str(error)
            self.delete()
        if not place["words"]:
            for setting in _PAGES:
                gdb.execute(setting, to_string=True)

    def _bytes(self) -> bytes:
        if not self.place["words"]:
            return b""
        try:
            return self.collection.reader.memory.read(self.place["address"], self.place["bytes"])
        except Unreadable:
            return b""

    def told(self) -> dict[str, Any]:
        """Whether it is set."""
        return {"number": self.number, "verified": not self.refused, "refused": self.refused}

    def delete(self) -> None:
        """Remove it."""
        for one in (*self.placed, *([self.end] if self.end is not None else ())):
            if one.is_valid():
                one.delete()

    def reached(self) -> bool:
        """A thread has written or read: note what has changed, and whether to stop."""
        before, self.last = self.last, self._bytes()
        if of_the_debugger(self.collection):
            return False
        self.hits += 1
        if not at_hit(self.hits, self.place):
            return False
        says = self._changes(before, self.last, 0)
        pc = gdb.newest_frame().pc()
        self.note(gdb.selected_thread().ptid[1], Reached((self.number,), pc, says=_by(says, pc)))
        return True

    def written(self, record: int) -> Reached:
        """What a record of the watch inside the process says. Raises Unreadable."""
        row = _RECORD.unpack(self.collection.reader.memory.read(record, _RECORD.size))
        before, after, address, size = row[1], row[2], row[4], row[8]
        old, new = (one.to_bytes(8, "little")[:size] for one in (before, after))
        says = self._changes(old, new, address - self.place["address"])
        pc = gdb.newest_frame().pc()
        return Reached((self.number,), pc, says=_by(says, pc))

    def covers(self, record: int) -> bool:
        """Whether a record is one of this range."""
        try:
            address = _RECORD.unpack(self.collection.reader.memory.read(record, _RECORD.size))[4]
        except Unreadable:
            return False
        return not self.place["words"] and 0 <= address - self.place["address"] < self.place["bytes"]

    def _changes(self, before: bytes, after: bytes, offset: int) -> str:
        letter, label = self.place["letter"], self.place["label"]
        size = struct.calcsize(letter.replace(OBJECT, "P")) if letter else 8
        many = self.place["bytes"] > size
        said = []
        for at in range(0, len(after), size):
            old, new = before[at : at + size], after[at : at + size]
            if old != new:
                name = f"{label}[{(offset + at) // size}]" if many else label
                said.append(f"{name}: {self._value(old, letter)} → {self._value(new, letter)}")
        return ", ".join(said) or f"{label}: the same value"

    def _value(self, raw: bytes, letter: str) -> str:
        word = int.from_bytes(raw, "little")
        values = self.collection.reader.native_values().values
        if letter == OBJECT and values is not None:
            said = values.describe(word) if word else "nothing"
            return said.reason if isinstance(said, Unknown) else said
        if letter and letter != OBJECT and len(raw) == struct.calcsize(letter):
            return str(struct.unpack(f"<{letter}", raw)[0])
        return f"{word:#x}"


class Watchpoint(PlaceBreakpoint):
    """One of the processor's."""

    def __init__(self, watch: Watch, spec: str) -> None:
        self.watch = watch
        place = {**watch.place, "place": watch.place["label"], "spec": spec}
        super().__init__(watch.collection, place, gdb.BP_WATCHPOINT, _ACCESS[watch.place["access"]])
        if self.type == gdb.BP_WATCHPOINT:  # gdb would step each instruction
            self.delete()
            raise RuntimeError("the processor's four watchpoints are in use")

    def leave_out_stubs(self) -> None:
        """It has no code of its own."""

    def stop(self) -> bool:
        """gdb calls this at each hit; False continues the program."""
        return super().stop() and self.watch.reached()


class Returned(gdb.FinishBreakpoint):
    """A variable of a function is watched until that returns: its memory is others' then."""

    def __init__(self, watch: Watch, frame: gdb.Frame, over: Callable[[Watch], None]) -> None:
        super().__init__(frame, internal=True)
        self.silent = True
        self._watch, self._over = watch, over

    def stop(self) -> bool:
        """gdb calls this where the function has returned; the program continues."""
        gdb.post_event(self.out_of_scope)
        return False

    def out_of_scope(self) -> None:
        """Left by an exception or longjmp, too."""
        self._watch.delete()
        self._over(self._watch)


def scope_of(name: str) -> dict[str, Any]:
    """The frame of a local variable of the selected frame, as thread and caller's stack pointer; else []."""
    frame = gdb.selected_frame()
    older = frame.older()
    found = (*symbols(frame, True), *symbols(frame, False))
    names = {one.name.removeprefix("__pyx_v_") for one in found}
    if older is None or name not in names:
        return {"scope": []}
    return {"scope": [gdb.selected_thread().ptid[1], _stack_pointer(older)]}


def _stack_pointer(frame: gdb.Frame) -> int:
    return int(frame.read_register("sp")) & (1 << 64) - 1


def _frame(thread: int, caller: int) -> gdb.Frame:
    """The frame that `scope_of` told of. Raises ValueError where its thread runs or it has returned."""
    for one in gdb.selected_inferior().threads():
        if one.ptid[1] == thread and one.is_stopped():
            one.switch()
            for frame in frames_of(_DEPTH):
                older = frame.older()
                if older is not None and _stack_pointer(older) == caller:
                    return frame
    raise ValueError("the thread does not stand in its function any more")


def _by(says: str, pc: int) -> str:
    """With the line that wrote: a watchpoint stops behind it."""
    frame, sal = gdb.newest_frame(), gdb.find_pc_line(pc - 1)
    line = f" {Path(sal.symtab.filename).name}:{sal.line}" if sal.symtab else ""
    return f"{says}, by {frame.name() or hex(pc)}{line}"


def record_of_signal() -> int:
    """The address of a record that the selected thread's SIGURG tells; 0 for another SIGURG."""
    try:
        told = gdb.parse_and_eval("$_siginfo")
        if int(told["si_code"]) != _SI_QUEUE:
            return 0
        return int(told["_sifields"]["_rt"]["si_sigval"]["sival_ptr"])
    except gdb.error:
        return 0
