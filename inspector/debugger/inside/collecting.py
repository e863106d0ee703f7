"""Inside gdb: breakpoints that record each hit into a file and continue the program."""

# SPDX-License-Identifier: MIT
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gdb

from inspector.debugger.inside.target_reader import TargetReader
from inspector.debugger.presets.prototypes import Prototype, parsed
from inspector.facts.stack import Argument, Frame
from inspector.facts.wire import to_wire


class Spool:
    """A file of JSON lines, written hit by hit, so that a killed gdb loses no hit.

    Each frame is written once; hits refer to it by number.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._frames: dict[Frame, int] = {}
        self._numbers: dict[
            int, int
        ] = {}  # by id() of the frames in _frames, to avoid hashing their texts again

    def write(self, row: dict[str, Any], frames: tuple[Frame, ...]) -> None:
        """Append one hit and its new frames."""
        lines, numbers = [], []
        for frame in frames:
            number = self._numbers.get(id(frame))
            if number is None and (number := self._frames.get(frame)) is None:
                number = self._numbers[id(frame)] = self._frames[frame] = len(self._frames)
                lines.append(json.dumps({"frame": to_wire(frame)}))
            numbers.append(number)
        lines.append(json.dumps({**row, "frames": numbers}))
        os.write(self._file, "".join(line + "\n" for line in lines).encode())


class Collection:
    """What all breakpoints of a session share: the reader, the spool, the budget, the watched threads."""

    def __init__(self, reader: TargetReader, folder: str, options: dict[str, Any]) -> None:
        self.reader = reader
        self.spool = Spool(Path(folder) / "hits.jsonl")
        self.mode: str = options.get("mode", "full")
        self.budget: int = options.get("budget", 1000)
        self.depth: int = options.get("depth", 40)
        self.threads = frozenset(options.get("threads", ()))
        self.watch_word: int = (options.get("guard") or (0, 0))[0]
        self.interactive: bool = options.get("interactive", False)
        self.recorded = self.failed = self.stopped_ns = 0
        self.places: dict[int, PlaceBreakpoint] = {}

    def wanted(self) -> bool:
        """Whether to count the selected thread's hit: in a watched thread, and not of the tool itself."""
        if self.threads and gdb.selected_thread().ptid[1] not in self.threads:
            return False
        return not self.watch_word or self.reader.memory.word(self.watch_word + 8) == 1

    def record(self, place: str, arguments: Callable[[gdb.Frame], tuple[Argument, ...]]) -> None:
        """Write one hit of the selected thread; `arguments` reads those of its newest frame."""
        self.recorded += 1
        thread = gdb.selected_thread().ptid[1]
        row: dict[str, Any] = {"n": self.recorded, "place": place, "at": time.monotonic_ns()}
        frames: tuple[Frame, ...] = ()
        frame = gdb.newest_frame()
        if self.mode in ("full", "arguments"):
            row["arguments"] = [to_wire(argument) for argument in arguments(frame)]
        if self.mode != "arguments":
            stack = self.reader.stack(thread, self.depth, self.mode)
            row["thread"], row["name"], row["cut"] = thread, stack.name, stack.cut
            row["python"] = to_wire(stack.python)
            frames = stack.frames
        self.spool.write(row, frames)

    def counts(self) -> dict[str, Any]:
        """The counts so far, as plain values."""
        return {
            "recorded": self.recorded,
            "failed": self.failed,
            "stopped_ns": self.stopped_ns,
            "places": [place.counts() for place in self.places.values()],
        }


class PlaceBreakpoint(gdb.Breakpoint):
    """The breakpoint of one place, which may have several addresses."""

    _told_hits = 0

    def __init__(
        self,
        collection: Collection,
        place: dict[str, Any],
        kind: int = gdb.BP_BREAKPOINT,
        at: int = gdb.WP_WRITE,
    ) -> None:
        super().__init__(place["spec"], kind, at)
        self.silent = True
        self.collection, self.typed = collection, place["place"]
        self.prototype: Prototype | None = parsed(place["prototype"]) if place.get("prototype") else None
        self.hits = 0
        self.says = ""
        self.absent = "no loaded library has a function of this name"
        self.only_if: str = place.get("condition", "")
        self.leave_out_stubs()

    def was_hit(self) -> bool:
        """Whether gdb tells of a hit: it does so of each, as of a place that was found."""
        told, self._told_hits = self._told_hits, self.hit_count
        return self.hit_count != told

    def leave_out_stubs(self) -> None:
        """Disable linker stubs (name@plt): they jump to the function, which would be counted twice."""
        for location in [one for one in self.locations if one.enabled] if not self.pending else ():
            printed = gdb.execute(f"info symbol {location.address:#x}", to_string=True)
            if "@plt" in printed or " section .plt" in printed:
                location.enabled = False

    def stop(self) -> bool:
        """gdb calls this at each hit; False continues the program. Sends no message."""
        begin = time.perf_counter_ns()
        collection = self.collection
        try:
            if not collection.wanted() or not self.holds():
                return False
            self.hits += 1
            if collection.interactive:
                return True
            if collection.mode == "count":
                return False
            if collection.recorded < collection.budget:
                collection.record(self.typed, self.arguments)
            elif not self.says:
                self.says = (
                    f"budget of {collection.budget:,} hits reached: switched off, the program continues"
                )
                gdb.post_event(partial(setattr, self, "enabled", False))
        except Exception as error:
            collection.failed += 1
            self.says = self.says or f"a hit could not be recorded: {type(error).__name__}: {error}"[:200]
        finally:
            collection.stopped_ns += time.perf_counter_ns() - begin
        return False

    def arguments(self, frame: gdb.Frame) -> tuple[Argument, ...]:
        """The arguments of the frame that the place was reached in."""
        return self.collection.reader.native_values().arguments(frame, self.prototype)

    def holds(self) -> bool:
        """Whether the place's condition is true; gdb ignores its own conditions where `stop` is defined."""
        if not self.only_if:
            return True
        try:
            return bool(gdb.parse_and_eval(self.only_if))
        except (gdb.error, RuntimeError) as error:
            self.says = self.says or f"the condition cannot be evaluated: {error}"[:200]
            return False

    def counts(self) -> dict[str, Any]:
        """The place's counts, for the client."""
        locations = [] if self.pending else [location for location in self.locations if location.enabled]
        says = self.says or (self.absent if self.pending else "")
        return {"place": self.typed, "locations": len(locations), "hits": self.hits, "says": says}
