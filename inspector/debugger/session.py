"""A session of breakpoints on one process, and its hits as facts."""

# SPDX-License-Identifier: MIT
import contextlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

from inspector import _native
from inspector.debugger import swift_names
from inspector.debugger.client import ATTACH_S, Client, guarded
from inspector.debugger.hardware_breakpoints import HardwareHits, armed
from inspector.debugger.presets.places import Asked, asked
from inspector.errors import InspectorError
from inspector.facts.stack import Argument, Frame, Hit, Hits, PlaceCount, Stack
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire

BUDGET: Final = 1000
DEPTH: Final = 40


class Breakpoints:
    """`with breakpoints("probe") as found: ...`; afterwards `found.hits`, `found.facts`.

    Watches only the thread that enters, unless `all_threads`. Hits beyond the budget are counted as dropped,
    and their place is disabled. Any other `record` costs less than "full". `count` and `stacks` of at most
    four exported functions need no gdb: hardware_breakpoints.py.
    """

    def __init__(
        self,
        *places: str,
        preset: str | None = None,
        prototypes: Sequence[str] = (),
        record: str = "full",
        budget: int = BUDGET,
        depth: int = DEPTH,
        all_threads: bool = False,
        fast: bool = False,
        pid: int | None = None,
    ) -> None:
        self._asked = asked(places, preset, prototypes)
        self._options: dict[str, Any] = {"mode": record, "budget": budget, "depth": depth}
        self._settings = ["set displaced-stepping on"] if fast else []
        self._all, self._pid = all_threads, pid
        self._hardware: HardwareHits | None = None
        self._by_hand = fast or pid is not None
        self._open = contextlib.ExitStack()
        self._client: Client | None = None
        self._told: dict[str, Any] = {}
        self._facts: Hits | Unknown = Unknown("nothing was recorded yet: enter the context first")

    def __enter__(self) -> Self:
        """Attach, set the breakpoints, continue. Raises InspectorError; then nothing was changed."""
        if self._client is not None or self._hardware is not None:
            raise running()
        target = self._pid or os.getpid()
        own = target == os.getpid()
        if own:
            if not _TURN.acquire(blocking=False):
                raise running()
            self._open.callback(_TURN.release)
        if not self._by_hand and self._by_processor():
            return self
        try:
            self._client = self._open.enter_context(contextlib.closing(Client(target)))
            guard = self._open.enter_context(guarded(self._client)) if own else None
            threads = [threading.get_native_id()] if own and not self._all else []
            self._told = self._client.call(
                "start",
                ATTACH_S,
                places=[place._asdict() for place in self._asked],
                guard=guard,
                threads=threads,
                settings_inside=self._settings,
                **self._options,
            )
        except BaseException:
            self._client = None
            self._open.close()
            raise
        _native.traps_watch(own)
        return self

    def _by_processor(self) -> bool:
        """Try hardware breakpoints; whether they are armed."""
        kept = {name: self._options[name] for name in ("budget", "depth")}
        try:
            self._hardware = armed(self._asked, str(self._options["mode"]), all_threads=self._all, **kept)
        except BaseException:
            self._open.close()
            raise
        return self._hardware is not None

    def add(self, *places: str, prototypes: Sequence[str] = ()) -> None:
        """Add places while the program runs. Raises InspectorError bad-place with hardware breakpoints."""
        if self._hardware is not None:
            raise InspectorError(
                "no place can be added here.",
                slug="bad-place",
                why="these are hardware breakpoints: the processor has four, set before the block begins",
                do="give all places at once, or record='full', which uses gdb",
            )
        client = self._running()
        told = client.call("add", places=[place._asdict() for place in asked(places, None, prototypes)])
        self._told["refused"] = [*self._told.get("refused", ()), *told["refused"]]

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        """Detach, and read the hits, also those that a killed gdb had written."""
        if self._hardware is not None:
            self._facts, self._hardware = self._hardware.end(), None
            self._open.close()
            return
        _native.traps_watch(False)
        client = self._running()
        try:
            counts: Mapping[str, Any] = {}
            with contextlib.suppress(InspectorError):
                counts = client.call("leave", 30.0)
            self._facts = gathered(client, self._told, counts)
        finally:
            self._client = None
            self._open.close()

    def _running(self) -> Client:
        if self._client is None:
            raise InspectorError(
                "these breakpoints are not armed.",
                slug="gdb-ended",
                why="the context was left",
                do="enter it first",
            )
        return self._client

    @property
    def state(self) -> str:
        """absent, running, stopped, leaving, gone or healed, by the broker."""
        if self._hardware is not None:
            return "running"
        return str(self._running().call("state")["state"]) if self._client else "absent"

    @property
    def facts(self) -> Hits:
        """The facts. Raises InspectorError not-left while the context is open."""
        if isinstance(self._facts, Unknown):
            raise InspectorError(self._facts.reason, slug="not-left", do="read it after the with block")
        return self._facts

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The recorded hits, in order."""
        return self.facts.hits


_TURN: Final = threading.Lock()


def running() -> InspectorError:
    """The error for a second session on this process."""
    return InspectorError(
        "this process has a session of breakpoints already.",
        slug="session-running",
        why="Linux lets one debugger trace a process at a time",
        do="leave that session first, or add places to it: breakpoints.add(...)",
    )


def gathered(client: Client, told: Mapping[str, Any], counts: Mapping[str, Any]) -> Hits:
    """The facts of a session: the spooled hits, and gdb's counts where it could still send them."""
    found = tuple(_hits(client))
    stacks = swift_names.readable(hit.stack for hit in found)
    hits = tuple(replace(hit, stack=stack) for hit, stack in zip(found, stacks, strict=True))
    refused = tuple(PlaceCount(line.partition(":")[0], 0, 0, line) for line in told.get("refused", ()))
    rows = counts.get("places")
    if rows is None:
        rows = [{**row, "hits": sum(hit.place == row["place"] for hit in hits)} for row in told["places"]]
    places = tuple(PlaceCount(**row) for row in rows)
    counted = sum(place.hits for place in places)
    stopped = counts.get("stopped_ns", 0)
    return Hits(
        (*places, *refused), hits, counted - len(hits), told.get("frozen_ns", 0), stopped, client.ended
    )


def _hits(client: Client) -> Iterator[Hit]:
    frames: list[Frame] = []
    for row in client.spooled():
        if "frame" in row:
            frames.append(from_wire(Frame, row["frame"]))
            continue
        stack = Stack(
            row.get("thread", 0),
            row.get("name", ""),
            tuple(frames[number] for number in row["frames"]),
            from_wire(str | Unknown, row.get("python", {"unknown": "not asked"})),
            row.get("cut", False),
        )
        arguments: tuple[Argument, ...] | Unknown = Unknown("not asked")
        if "arguments" in row:
            arguments = tuple(from_wire(Argument, argument) for argument in row["arguments"])
        yield Hit(row["n"], row["place"], row["at"], arguments, stack)


__all__ = ["Asked", "Breakpoints", "gathered", "running"]
