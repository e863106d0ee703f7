"""Inside gdb: breakpoints at torch's operators by name (`aten::add`), set when torch's library is loaded."""

# SPDX-License-Identifier: MIT
import os
from typing import Any, Final

import gdb

from inspector.debugger.inside.collecting import Collection, PlaceBreakpoint
from inspector.debugger.inside.torch_registered import Registered, StopsFor
from inspector.debugger.memory import proc
from inspector.debugger.presets.operators import LIBRARY, NAMED, OPERATOR, Library, Schema, parameters
from inspector.debugger.presets.prototypes import Prototype

_FRAMES_MAX: Final = 12
"""Frames to search for an earlier entry of the same call; torch 2.13 has three to five between two."""


class Operators:
    """The places that name operators, until torch is loaded; then one row for each overload."""

    def __init__(self, collection: Collection, pid: int, stops_for: StopsFor) -> None:
        self._collection, self._pid = collection, pid
        self.registered = Registered(collection, stops_for)
        self._places: list[dict[str, Any]] = []
        self._refused: list[dict[str, Any]] = []
        self._is_loaded = False

    def add_named(self, place: dict[str, Any], function: PlaceBreakpoint) -> None:
        """Watch also for an operator of this name; `function` is the breakpoint at a function so named."""
        if NAMED.match(place["place"]):
            self.registered.add(place, function)
            self._is_loaded = False
            self.loaded()
            self.registered.arm()

    def add(self, place: dict[str, Any]) -> bool:
        """Take a place if it can name an operator of torch only."""
        if not OPERATOR.match(place["place"]):
            return False
        self._places.append(place)
        self._is_loaded = False
        self.loaded()
        return True

    def loaded(self) -> None:
        """Code was loaded: set breakpoints if it is torch's."""
        if self.registered.waits:
            self.registered.loaded({one.path for one in proc.code(self._pid)})
        if self._is_loaded or not (self._places or self.registered.is_asked):
            return
        every = proc.code(self._pid)
        for code in every:
            if os.path.basename(code.path) == LIBRARY:  # noqa: PTH119
                self._is_loaded = True
                library = Library(proc.mapped_file(self._pid, code.path))
                base = code.start - code.file_offset
                self.registered.found(library, base, {one.path for one in every})
                places, self._places = self._places, []
                for place in places:
                    self._set(place, library, base)
                return

    def _set(self, place: dict[str, Any], library: Library, base: int) -> None:
        by_function: dict[str, list[Schema]] = {}
        for one in library.schemas(place["place"]):
            by_function.setdefault(one.function, []).append(one)
        known = []
        for declared in by_function.values():
            starts = [library.entry(declared[0], name) for name in ("call", "redispatch")]
            if all(starts):
                known.append(Entered(self._collection, place, declared, [base + start for start in starts]))
        self._collection.places.update((one.number, one) for one in known)
        if not known:
            why = "exports no function of this operator" if by_function else "declares no such operator"
            self._refused.append(_row(place, f"{LIBRARY} {why}"))

    def counts(self) -> list[dict[str, Any]]:
        """Rows of places without a breakpoint, with the reason."""
        waiting = [_row(place, f"torch was not loaded (no {LIBRARY})") for place in self._places]
        return [*self._refused, *waiting]


def _row(place: dict[str, Any], says: str) -> dict[str, Any]:
    return {"place": place["place"], "locations": 0, "hits": 0, "says": says}


class Entered(PlaceBreakpoint):
    """The breakpoint at `call` of one overload; it owns the one at `redispatch`."""

    def __init__(
        self, collection: Collection, place: dict[str, Any], declared: list[Schema], starts: list[int]
    ) -> None:
        self.declared = declared
        own = {"place": declared[0].place, "spec": f"*{starts[0]:#x}", "prototype": ""}
        super().__init__(collection, {**place, **own})
        self.again = Redispatched(collection, place, declared, starts[1:]) if starts[1:] else None

    def holds(self) -> bool:
        """As of any place; reads the signature at the first hit."""
        if self.prototype is None:
            name = gdb.newest_frame().name() or ""
            fit = (parameters(one, name) for one in self.declared)
            placed = next((one for one in fit if one is not None), None)
            self.prototype = None if placed is None else Prototype(name, placed)
        return super().holds()

    def counts(self) -> dict[str, Any]:
        """The counts of both functions."""
        row = super().counts()
        return {**row, "hits": row["hits"] + self.again.hits} if self.again else row


class Redispatched(Entered):
    """The breakpoint at `redispatch`: a hit where the call came neither by `call` nor by an earlier one."""

    def holds(self) -> bool:
        """Whether no frame further out is an entry of the same operator."""
        return not self._is_inner() and super().holds()

    def _is_inner(self) -> bool:
        frame = gdb.newest_frame().older()
        for _ in range(_FRAMES_MAX):
            if frame is None:
                return False
            if (frame.name() or "").startswith(f"at::_ops::{self.declared[0].function}::"):
                return True
            frame = frame.older()
        return False
