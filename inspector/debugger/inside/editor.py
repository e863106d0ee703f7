"""Inside gdb: what an editor asks: breakpoints, stops of single threads, steps, stacks, variables.

Each thread stops for itself and the others run on; but one that holds the GIL keeps Python's others waiting.
A step that leaves C for the interpreter goes on to the evaluation loop: to the Python line that called.
"""

# SPDX-License-Identifier: MIT
import contextlib
import re
from collections.abc import Callable
from typing import Any, Final

import gdb

from inspector.debugger.inside.authored import WRAPPER
from inspector.debugger.inside.collecting import Collection
from inspector.debugger.inside.editor_places import Once, Out, Reached, Wanted, at_entry, entered, other_lines
from inspector.debugger.inside.editor_watches import Watch, record_of_signal, scope_of
from inspector.debugger.inside.instructions import around
from inspector.debugger.inside.opened import (
    Opened,
    Row,
    assigned,
    at_first_instruction,
    know_cpp,
    range_of,
    valued,
    without_lines,
)
from inspector.debugger.inside.source_lines import sources
from inspector.debugger.inside.target_reader import frames_of, symbol
from inspector.debugger.inside.thrown import CAUGHT, THROW, signal_text
from inspector.debugger.memory.loop_parts import LOOP
from inspector.debugger.memory.merge import is_loop
from inspector.debugger.presets.prototypes import parsed
from inspector.facts.stack import Frame
from inspector.facts.wire import to_wire

_GOES: Final = {"step": "step &", "next": "next &", "finish": "finish &", "continue": "continue &"}
_NOWHERE: Final = "Cannot find bounds of current function"
_DEPTH: Final = 200
_CALLS_C: Final = re.compile(r"(^|/)(libffi|_ctypes|_cffi_backend)\b")
_WAITS: Final = "take_gil"
"""CPython's function in which a thread waits for the GIL (ceval_gil.h)."""
Reply = Callable[..., None]


class Editor:
    """One editor's session; `event` sends an event to it, `planted` is called after breakpoints were set,
    `standing` runs a function while all threads are stopped for it."""

    def __init__(
        self,
        collection: Collection,
        event: Reply,
        planted: Callable[[], None],
        standing: Callable[[Callable[[], None]], None],
    ) -> None:
        self._collection, self._event, self._planted = collection, event, planted
        self._standing = standing
        self._reader = collection.reader
        self._wanted: dict[str, list[Wanted]] = {}
        self._once: list[Once] = []
        self._out: dict[int, Out] = {}
        self._reached: dict[int, Reached] = {}
        self._told: dict[int, Row] = {}
        self._handing: set[int] = set()
        self._catching: set[int] = set()
        self._pausing: set[int] = set()
        self._opened = Opened()
        self._watches: list[Watch] = []
        know_cpp()

    def command(self, reply: Reply, word: str, argument: dict[str, Any]) -> None:
        """Carry out one request; replies at once: stops are events. A watchpoint needs a stopped thread."""
        if word == "watch" and not self._select_any():
            self._standing(lambda: reply(**self._do_watch(**argument)))
            return
        reply(**getattr(self, f"_do_{word}")(**argument))

    def _do_set(self, group: str, places: list[dict[str, Any]]) -> Row:
        """Set the breakpoints of a file, or those of functions, in place of the ones before."""
        for one in self._wanted.pop(group, ()):
            one.delete()
        found = [Wanted(self._collection, place, self._reached.__setitem__, self._say) for place in places]
        self._wanted[group] = found
        self._planted()
        told = [one.told() for one in found]
        self._told.update((one["number"], one) for one in told)
        return {"breakpoints": told}

    def _do_once(self, thread: int, entries: list[dict[str, Any]]) -> Row:
        """Stop this thread at the first of these functions; none of the interpreter's own."""
        self._do_never()
        for entry in entries:
            for spec, flags in () if self._of_interpreter(entry["address"]) else entered(entry):
                self._once.append(Once(thread, spec, flags, self._reached.__setitem__))
        self._planted()
        return {"armed": len(self._once)}

    def _do_never(self) -> Row:
        """Remove what `once` has set."""
        for one in self._once:
            if one.is_valid():
                one.delete()
        self._once.clear()
        return {}

    def _do_watch(self, places: list[dict[str, Any]]) -> Row:
        """Set the data breakpoints in place of the ones before."""
        for one in self._watches:
            one.delete()
        note = self._reached.__setitem__
        self._watches = [Watch(self._collection, place, note, self._over) for place in places]
        return {"breakpoints": [one.told() for one in self._watches]}

    def _do_assign(self, thread: int, level: int, ref: int, name: str, value: str) -> Row:
        """Set a C scalar; its row afterwards."""
        self._frame(thread, level).select()
        found = self._opened.child(ref, name) if ref else valued(name)
        if not isinstance(found, gdb.Value):
            raise ValueError(found.reason)
        assigned(found, value)
        now = self._opened.child(ref, name) if ref else valued(name)
        return {"row": self._opened.row(self._reader.native_values(), name, now)}

    def _do_disassemble(self, thread: int, address: int, offset: int, count: int) -> Row:
        self._select(thread)
        return {"instructions": around(address, offset, count)}

    def _do_sources(self) -> Row:
        return {"files": sources(gdb.solib_name(symbol(LOOP)) or "")}

    def _over(self, watch: Watch) -> None:
        """A function has returned, a variable of which was watched."""
        told = {**watch.told(), "verified": False, "refused": "its function has returned"}
        self._event(event="places", places=[told])

    def _do_range(self, thread: int, level: int, ref: int, name: str) -> Row:
        """The bytes of a variable inside an opened one (`ref`), or of an expression in a frame."""
        if ref:
            self._select(thread)
            return self._opened.inside_of(ref, name)
        self._frame(thread, level).select()
        return range_of(valued(name)) | scope_of(name)

    def _of_interpreter(self, address: int) -> bool:
        loop = symbol(LOOP)
        return bool(loop) and gdb.solib_name(loop) == gdb.solib_name(address)

    def _do_go(self, thread: int, how: str) -> Row:
        self._select(thread)
        self._opened.forget()
        self._reached.pop(thread, None)
        if how != "continue" and gdb.newest_frame().name() == THROW:
            self._once.append(Once(thread, CAUGHT, 0, lambda _, reached: self._catching.add(thread)))
            how = "continue"
        if how in ("step", "next") and any(not one.place["words"] for one in self._watches):
            self._to_another_line(thread)
            how = "continue"
        try:
            gdb.execute(_GOES[how], to_string=True)
        except gdb.error as error:
            if _NOWHERE in str(error):
                raise gdb.error("the thread stands in no known function: no line to step to") from None
            raise
        return {}

    def _to_another_line(self, thread: int) -> None:
        """A step without single steps, which would take the traps of a watch by pages."""
        frame = gdb.newest_frame()
        note = self._reached.__setitem__
        self._once += [Once(thread, f"*{pc:#x}", 0, note) for pc in other_lines(frame)]
        with contextlib.suppress(gdb.error, ValueError):
            self._out[thread] = Out(frame)
        self._planted()

    def _do_interrupt(self, thread: int) -> Row:
        """Stop a running thread where it is."""
        for one in gdb.selected_inferior().threads():
            if one.ptid[1] == thread and one.is_running():
                one.switch()
                self._pausing.add(thread)
                gdb.execute("interrupt", to_string=True)
        return {}

    def _do_hand_over(self, thread: int) -> Row:
        """Let a thread go on until it waits for the GIL again: it stands there, and Python's others run."""
        if waits := symbol(_WAITS):
            handed = Once(thread, at_entry(waits), 0, lambda _, reached: self._handing.add(thread))
            self._once.append(handed)
            self._planted()
        return self._do_go(thread, "continue") | {"stops": bool(waits)}

    def _do_stack(self, thread: int) -> Row:
        """The merged frames; `level` is that of a native one, to ask for its variables."""
        self._select(thread)
        stack = self._reader.stack(thread, _DEPTH)
        native = [(level, self._reader.frame(one), one.pc()) for level, one in enumerate(frames_of(_DEPTH))]
        rows, at = [], 0
        for frame in stack.frames:
            row: Row = {"frame": to_wire(frame)}
            if frame.kind == "native":
                while at < len(native) and native[at][1] != frame:
                    at += 1
                if at < len(native):
                    row |= {"level": native[at][0], "pc": native[at][2]}
                    at += 1
            rows.append(row)
        return {"rows": rows, "cut": stack.cut}

    def _do_variables(self, thread: int, level: int) -> Row:
        frame = self._frame(thread, level)
        read = self._reader.native_values()
        if frame.function() is not None:
            return {"rows": self._opened.of_frame(read, frame)}
        reached = self._reached.get(thread)
        at_place = reached is not None and level == 0 and reached.pc == frame.pc()
        if reached is not None and at_place and reached.flags:
            return {"rows": at_first_instruction(read, frame, reached.flags)}
        prototype = (
            parsed(reached.prototype) if reached is not None and at_place and reached.prototype else None
        )
        return {"rows": without_lines(read, frame, prototype) if level == 0 else []}

    def _do_children(self, thread: int, ref: int) -> Row:
        self._select(thread)
        return {"rows": self._opened.children(self._reader.native_values(), ref)}

    def _do_evaluate(self, thread: int, level: int, expression: str) -> Row:
        self._frame(thread, level).select()
        return {"row": self._opened.evaluated(self._reader.native_values(), expression)}

    def _select_any(self) -> bool:
        stopped = [one for one in gdb.selected_inferior().threads() if one.is_stopped()]
        if stopped:
            stopped[0].switch()
        return bool(stopped)

    def _select(self, thread: int) -> None:
        for one in gdb.selected_inferior().threads():
            if one.ptid[1] == thread and one.is_stopped():
                one.switch()
                return
        raise RuntimeError(f"thread {thread} is not stopped")

    def _frame(self, thread: int, level: int) -> gdb.Frame:
        self._select(thread)
        return list(frames_of(level + 1))[level]

    def _say(self, text: str) -> None:
        self._event(event="output", text=text)

    def stopped(self, thread: gdb.InferiorThread | None, reason: str) -> None:
        """A thread has stopped: tell the editor, or let it go on to the Python line that called."""
        if thread is None or not thread.is_valid() or thread.is_running():
            return
        thread.switch()
        number = thread.ptid[1]
        if number in self._handing:
            self._handing.discard(number)
            self._do_never()
            self._event(event="handed", thread=number)
            return
        if number in self._catching:
            self._catching.discard(number)
            self._do_never()
            self._out[number] = Out(gdb.newest_frame())
            gdb.execute("continue &", to_string=True)
            return
        if reason == "SIGURG" and not self._written(number):
            gdb.execute("continue &", to_string=True)
            return
        reached = self._reached.get(number)
        here = reached is not None and reached.pc == gdb.newest_frame().pc()
        if self._returned(number) or (here and reached is not None and not reached.stays):
            reason = "step"
        if reason == "breakpoint" and not here:  # one that only logs lies where a step ended
            reason = "step"
        if number in self._pausing:
            self._pausing.discard(number)
            reason = reason if here else "pause"
        if here and reached is not None and reached.says:
            reason = "watchpoint"
        self._do_never()
        if reason == "step" and not here and self._goes_out(number):
            return
        told: Row = {"numbers": (), "says": "", "fault": ""}
        if here and reached is not None:
            told = {"numbers": reached.numbers, "says": reached.says, "fault": reached.fault}
        else:
            told["fault"] = signal_text(reason, self._reader.memory)
        python = self._in_python()
        self._event(event="stopped", thread=number, reason=reason, python=python, **told)

    def _returned(self, thread: int) -> bool:
        """Whether a thread was on its way out of a function: what waits for it there is removed."""
        out = self._out.pop(thread, None)
        if out is not None and out.is_valid():
            out.delete()
        return out is not None

    def _written(self, thread: int) -> bool:
        """Whether SIGURG tells of a write to a watched range: then it is noted."""
        record = record_of_signal()
        for one in self._watches if record else ():
            if one.covers(record):
                self._reached[thread] = one.written(record)
                return True
        return False

    def _in_python(self) -> bool:
        """Whether the innermost frame that is no plumbing is the evaluation loop."""
        facts = (self._reader.frame(one) for one in frames_of(_DEPTH))
        return next((is_loop(one) for one in facts if is_loop(one) or not one.plumbing), False)

    def _goes_out(self, thread: int) -> bool:
        """Whether a thread that stands between C and the evaluation loop goes on to the loop."""
        frames = list(frames_of(_DEPTH))
        facts = [self._reader.frame(one) for one in frames]
        first = next((i for i, one in enumerate(facts) if is_loop(one) or not _passes_on(one)), 0)
        if first == 0:
            return False
        try:
            self._out[thread] = Out(frames[first - 1])
        except (gdb.error, ValueError):
            return False
        gdb.execute("continue &", to_string=True)
        return True

    def loaded(self, event: Any) -> None:
        """Code was loaded, or a pending breakpoint found its place: tell the editor what is new."""
        every = [one for group in self._wanted.values() for one in group]
        if not isinstance(event, gdb.Breakpoint):
            every = [one for one in every if one.plant()]
        new = [told for one in every if (told := one.told()) != self._told.get(one.number)]
        self._told.update((told["number"], told) for told in new)
        if new:
            self._event(event="places", places=new)

    def ended(self, code: int | None) -> None:
        """The process has ended: the broker tells."""


def _passes_on(frame: Frame) -> bool:
    """Whether a step out goes through this frame: Cython's wrapper, which has lines of its own, and what
    ctypes and cffi call C through."""
    return frame.plumbing or frame.function.startswith(WRAPPER) or bool(_CALLS_C.search(str(frame.library)))
