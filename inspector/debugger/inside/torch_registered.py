"""Inside gdb: breakpoints at operators that a library registers with torch (`mylib::op`), set when it does.

torch's dispatcher keeps a kernel as a functor and two functions that enter it: one takes the arguments as C++
does, one takes them boxed, in a vector of c10::IValue. Kernels of one C++ type share these functions, so a
breakpoint at them compares the functor, which is the first or, behind the address of a result, the second
argument. A call may enter several kernels of its operator, one inside the other: for gradients, then for
the CPU; first boxed, then not. The outermost is the hit.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import gdb

from inspector.debugger.inside.collecting import Collection, PlaceBreakpoint
from inspector.debugger.inside.native_values import symbol_at
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.debugger.memory.torch_values import argument_names, boxed_text, string
from inspector.debugger.presets.operators import Library, kernel_parameters, kernel_types
from inspector.debugger.presets.prototypes import Prototype
from inspector.facts.stack import Argument

_FRAMES_MAX: Final = 160
"""Frames to search for an entry further out; between two kernels of an operator of Python are 60."""
_IVALUE_BYTES: Final = 16
_DECLARED: Final = "_ZN3c1010Dispatcher11registerDefE"
_KERNEL: Final = "_ZN3c1010Dispatcher12registerImplE"
"""Where an operator is declared, a kernel registered; rdi has the place of the result, rsi the dispatcher."""
StopsFor = Callable[[Callable[[], None]], None]
"""Asks for an action once the program stands, which it does after the breakpoint that asks."""


class Registered:
    """The places that may name operators of other libraries, and what those have registered so far."""

    def __init__(self, collection: Collection, stops_for: StopsFor) -> None:
        self.collection, self.stops_for = collection, stops_for
        self._asked: dict[str, tuple[dict[str, Any], PlaceBreakpoint]] = {}
        self._operators: dict[str, Operator] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._torch: tuple[Library, int] | None = None
        self._paths: set[str] = set()
        self._is_armed = False

    @property
    def is_asked(self) -> bool:
        """Whether any place may name such an operator."""
        return bool(self._asked)

    def add(self, place: dict[str, Any], function: PlaceBreakpoint) -> None:
        """Watch for an operator of the place's name."""
        self._asked[place["place"]] = (place, function)
        function.absent += ", and no operator so named was registered while this was watched"

    def found(self, library: Library, base: int, paths: set[str]) -> None:
        """torch is loaded, and perhaps registers 10,000 kernels of its own now; `paths`: all code so far."""
        if self.is_asked and self._torch is None:
            self._torch, self._paths = (library, base), paths

    @property
    def waits(self) -> bool:
        """Whether torch is loaded and nothing was since then."""
        return self._torch is not None and not self._is_armed

    def loaded(self, paths: set[str]) -> None:
        """Code was loaded: if it is more than what came with torch, that has registered its own."""
        if paths - self._paths:
            self.arm()

    def arm(self) -> None:
        """Stop where torch takes declarations and kernels, if it is loaded."""
        if self._torch is None or self._is_armed:
            return
        self._is_armed = True
        library, base = self._torch
        does = {_DECLARED: self._declares, _KERNEL: self._registers}
        for mangled, do in does.items():
            if at := library.function(mangled):
                Registering(base + at, do)

    def _declares(self, frame: gdb.Frame) -> bool:
        at = _word(frame, "rdx")
        name = self._name(at)
        if self._asked_for(name):
            self._names[name] = argument_names(self.collection.reader.memory, at)
        return False

    def _registers(self, frame: gdb.Frame) -> bool:
        name = self._name(_word(frame, "rdx"))
        asked = self._asked_for(name)
        if asked is None:
            return False
        words = [self.collection.reader.memory.word(_word(frame, "r8") + 8 * n) for n in range(3)]
        self.stops_for(lambda: self._set(name, asked, Kernel(*words)))
        return True

    def _asked_for(self, name: str) -> tuple[dict[str, Any], PlaceBreakpoint] | None:
        return self._asked.get(name) or self._asked.get(name.partition(".")[0])

    def _name(self, address: int) -> str:
        """A c10::OperatorName: "mylib::op", or with its overload "mylib::op.out"."""
        memory = self.collection.reader.memory
        overload = string(memory, address + 32)
        return string(memory, address) + (f".{overload}" if overload else "")

    def _set(self, name: str, asked: tuple[dict[str, Any], PlaceBreakpoint], kernel: "Kernel") -> None:
        place, function = asked
        if function.is_valid():
            self.collection.places.pop(function.number)
            function.delete()
        if name not in self._operators:
            self._operators[name] = Operator(self.collection, {**place, "place": name})
        self._operators[name].add(kernel, self._names.get(name, ()))


class Registering(gdb.Breakpoint):
    """A breakpoint of the tool's own at a function of torch's registry."""

    def __init__(self, address: int, do: Callable[[gdb.Frame], bool]) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.silent, self._do = True, do

    def stop(self) -> bool:
        """Whether the program stops, so that breakpoints can be set."""
        try:
            return self._do(gdb.newest_frame())
        except (gdb.error, Unreadable, ValueError):
            return False  # a torch with another interface: the place says that nothing was registered


class Kernel(NamedTuple):
    """What torch keeps of a kernel: addresses in the program."""

    functor: int
    boxed: int
    unboxed: int
    """0 for a kernel that takes boxed arguments only, as one of Python does."""


class Live(NamedTuple):
    """An entry that has not returned."""

    top: int
    """The stack pointer behind its return address."""
    returns_to: int
    key: tuple[int, int]
    """Functor and function."""
    is_hit: bool


class Returned(gdb.Breakpoint):
    """Where an entry returns to: forgets it. It is set while an entry of its operator is live."""

    def __init__(self, address: int, live: dict[int, list[Live]]) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.silent, self._live = True, live

    def stop(self) -> bool:
        """Sends no message; the program continues."""
        top, thread = _word(gdb.newest_frame(), "rsp"), _thread()
        self._live[thread] = [one for one in self._live.get(thread, ()) if one.top > top]
        gdb.post_event(self._rest)
        return False

    def _rest(self) -> None:
        if self.is_valid():
            self.enabled = any(self._live.values())


class Operator:
    """One operator: its breakpoints, and which entries are parts of a call that was counted."""

    def __init__(self, collection: Collection, place: dict[str, Any]) -> None:
        self.collection, self.place = collection, place
        self.names: tuple[str, ...] = ()
        self.kernels: dict[int, Kernel] = {}
        self._entries: dict[int, Entry] = {}
        self._live: dict[int, list[Live]] = {}
        self._returned: dict[int, Returned] = {}

    def add(self, kernel: Kernel, names: tuple[str, ...]) -> None:
        """Set the breakpoints of a kernel that are not set yet; `names` of its arguments, () if not known."""
        self.names = names or self.names
        self.kernels[kernel.functor] = kernel
        for at in filter(None, (kernel.boxed, kernel.unboxed)):
            if at not in self._entries:
                self._entries[at] = Entry(self, at)
        first = next(iter(self._entries.values()))
        self.collection.places[first.number] = first

    def hits(self) -> int:
        """Calls so far."""
        return sum(one.hits for one in self._entries.values())

    def begins(self, key: tuple[int, int]) -> bool:
        """Whether the selected thread's entry begins a call; remembers it.

        An entry that is live already means that the operator calls itself: a new call.
        """
        frame = gdb.newest_frame()
        top = _word(frame, "rsp") + 8
        before = [one for one in self._live.get(_thread(), ()) if one.top > top]
        alive = _alive(frame, before) if before else []
        start = max((n for n, one in enumerate(alive) if one.is_hit), default=0)
        is_hit = not alive or any(one.key == key for one in alive[start:])
        returns_to = self.collection.reader.memory.word(top - 8)
        self._live[_thread()] = [*alive, Live(top, returns_to, key, is_hit)]
        if returns_to not in self._returned:
            self._returned[returns_to] = Returned(returns_to, self._live)
        self._returned[returns_to].enabled = True
        return is_hit


def _alive(frame: gdb.Frame, entries: list[Live]) -> list[Live]:
    """Without those that an exception ended."""
    tops = dict(_tops(frame))
    return [one for one in entries if tops.get(one.top) == one.returns_to]


def _tops(frame: gdb.Frame) -> Iterator[tuple[int, int]]:
    """Stack pointer behind the return address, and return address, of each frame further out."""
    outer = frame.older()
    for _ in range(_FRAMES_MAX):
        if outer is None:
            return
        yield _word(outer, "rsp"), outer.pc()
        outer = outer.older()


class Entry(PlaceBreakpoint):
    """The breakpoint at one function that enters kernels of an operator; the first one counts for all."""

    def __init__(self, operator: Operator, address: int) -> None:
        self._operator, self._address = operator, address
        super().__init__(operator.collection, {**operator.place, "spec": f"*{address:#x}", "prototype": ""})

    def _kernel(self) -> tuple[Kernel | None, bool]:
        """What is entered, None for a kernel of another operator; whether its result is made in place."""
        frame = gdb.newest_frame()
        first, second = (self._operator.kernels.get(_word(frame, name)) for name in ("rdi", "rsi"))
        return first or second, first is None

    def holds(self) -> bool:
        """Whether it is a kernel of this operator, and no part of a call that was counted."""
        kernel, _ = self._kernel()
        if kernel is None or self._address not in (kernel.boxed, kernel.unboxed):
            return False
        return super().holds() and self._operator.begins((kernel.functor, self._address))

    def arguments(self, frame: gdb.Frame) -> tuple[Argument, ...]:
        """The operator's arguments, also where debug information names those of torch's function."""
        kernel, is_made_in_place = self._kernel()
        assert kernel is not None
        types = kernel_types(symbol_at(kernel.unboxed)) if kernel.unboxed else []
        if self._address == kernel.boxed:
            return tuple(self._boxed(frame, types))
        names = self._names(len(types))
        prototype = Prototype(self.typed, kernel_parameters(names, types, is_made_in_place))
        return self.collection.reader.native_values().by_prototype(frame, prototype)

    def _boxed(self, frame: gdb.Frame, types: list[str]) -> Iterator[Argument]:
        memory = self.collection.reader.memory
        start, end = (memory.word(_word(frame, "rcx") + 8 * n) for n in range(2))
        count = len(types) or len(self._operator.names) or (end - start) // _IVALUE_BYTES
        types = types or [""] * count
        for n, (name, kind) in enumerate(zip(self._names(count), types, strict=True)):
            at = end - (count - n) * _IVALUE_BYTES
            yield Argument(name, kind, boxed_text(memory, kind, at, symbol_at), "prototype")

    def _names(self, count: int) -> tuple[str, ...]:
        if len(self._operator.names) == count:
            return self._operator.names
        return tuple(f"argument {n}" for n in range(1, count + 1))

    def counts(self) -> dict[str, Any]:
        """The counts of all of the operator's entries."""
        return {**super().counts(), "hits": self._operator.hits()}


def _word(frame: gdb.Frame, register: str) -> int:
    return int(frame.read_register(register)) & (1 << 64) - 1


def _thread() -> int:
    return int(gdb.selected_thread().ptid[1])
