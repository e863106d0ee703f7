"""What `inspector.leaks(...)` gives: a context manager, and afterwards the verdicts on references."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.facts.leaks import Drift, KeptByC, Leaks, Suspect, Verdict

if TYPE_CHECKING:
    from types import ModuleType, TracebackType

    from inspector.ledger.ledger import Found, Ledger
    from inspector.ledger.raw_memory import RawMemory
    from inspector.report import Report

WARM_UP: Final = 3
"""Runs before those that count: caches fill (CPython's regrtest -R)."""
RUNS: Final = 3
"""Runs that count, where nobody says how many."""
OUTSIDE: Final = "bytes leaked outside objects"
DEADLY: Final = ("over-released", "borrowed reference stolen")
"""Faults that end a process sooner or later."""


class Leaked:
    """One stretch of code under the ledger: `with` it, or `run` a function; then ask it."""

    name = "leaks"
    hosts = False
    """Whether what a program that embeds this Python obtains is watched too."""
    late = False
    """Whether modules may come that cannot be found yet."""

    def __init__(
        self,
        modules: tuple[str, ...],
        cells: Mapping[str, int] | None = None,
        repeat: int | None = None,
    ) -> None:
        self._modules, self._cells, self._repeat = modules, dict(cells or {}), repeat
        self._ledger: Ledger | None = None
        self._fact: Leaks | None = None

    def __enter__(self) -> Leaked:
        if self._repeat is not None:
            raise InspectorError(
                "a block runs once, whatever repeat= says.",
                slug="bad-option",
                do=f"inspector.leaks(..., repeat={self._repeat}).run(function), or %%inspect_leaks --repeat",
            )
        return self._begun()

    def _begun(self, raw_memory: RawMemory | None = None) -> Leaked:
        from inspector.ledger.ledger import Ledger
        from inspector.ledger.raw_memory import RawMemory

        self._fact = None
        self._ledger = Ledger(
            self._modules, self._cells, self.hosts, self.late, raw_memory or RawMemory(in_host=self.hosts)
        )
        self._ledger.passed_over = Leaked.run.__code__.co_filename
        self._ledger.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self, frames_from: int = 0, alone: bool = True, goes_on: bool = False) -> None:
        """Close and judge. `frames_from`: where on the stack the frames of a host begin, which run still.

        `goes_on`: another run follows, and blocks outside objects are judged after the last.
        """
        from inspector.sessions.leaks_raw_memory import judged

        ledger, self._ledger = self._ledger, None
        if ledger is None:
            return
        try:
            with _uncollected():
                found = ledger.stop(frames_from)
                self._fact = _judged(found, alone)
                if not goes_on:
                    self._fact = judged(self._fact, found, ledger.raw_memory)
        finally:
            if not goes_on:
                ledger.raw_memory.close()

    def run(self, function: Callable[[], Any], repeat: int | None = None, *, isolate: bool = False) -> Leaked:
        """Call `function` 3 times to warm up, then `repeat` (3) times; a fault is one that every run shows.

        The first time is watched too: what is certainly released too often then is told at once.
        `isolate`: in a forked child, so that a crash is a verdict; what `function` changes is lost.
        Raises InspectorError `not-isolated` where the child gives no answer, `bad-option`.
        """
        _check(repeat)
        repeat = repeat or self._repeat or RUNS
        if isolate:
            from inspector.sessions.leaks_isolated import apart

            self._fact = apart(
                lambda: self._repeated(function, repeat), lambda: self._once(function, alone=True)
            )
        else:
            self._fact = self._repeated(function, repeat)
        return self

    def _once(
        self,
        function: Callable[[], Any],
        raw_memory: RawMemory | None = None,
        *,
        alone: bool = False,
        goes_on: bool = False,
    ) -> Leaks:
        self._begun(raw_memory)
        try:
            function()
        finally:
            self.end(alone=alone, goes_on=goes_on)
        return self.fact

    def _repeated(self, function: Callable[[], Any], repeat: int) -> Leaks:
        from inspector.ledger.growth import Growth
        from inspector.ledger.raw_memory import RawMemory

        first = self._once(function)  # what it releases too often does no harm while the ledger is open
        if any(one.certain and one.kind in DEADLY for one in first.verdicts):
            return replace(first, notes=(*first.notes, "not repeated: unwatched it may end the process"))
        for _ in range(WARM_UP - 1):
            function()
        growth, facts, raw_memory = Growth(), [], RawMemory()
        try:
            for left in range(repeat, 0, -1):
                if left <= Growth.RUNS_MAX:
                    growth.note()
                facts.append(self._once(function, raw_memory, goes_on=left > 1))
            return _repeated(facts, growth.end() if repeat >= growth.RUNS_LEAST else None)
        finally:
            growth.forget()
            raw_memory.close()

    @property
    def is_open(self) -> bool:
        """Whether its block runs."""
        return self._ledger is not None

    @property
    def fact(self) -> Leaks:
        """Everything, as one fact. Raises InspectorError `trace-not-finished` before a block has ended."""
        if self._fact is None:
            raise InspectorError(
                "nothing has run under this ledger yet.",
                slug="trace-not-finished",
                do="with inspector.leaks() as leaks: ...",
            )
        return self._fact

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Faults found, certain ones first."""
        return self.fact.verdicts

    @property
    def certain(self) -> tuple[Verdict, ...]:
        """Those faults that leave no other explanation; none where nothing has run."""
        return tuple(one for one in self._fact or () if one.certain)

    @property
    def kept(self) -> tuple[KeptByC, ...]:
        """What native code keeps on purpose."""
        return self.fact.kept

    @property
    def report(self) -> Report:
        """The verdicts as they are shown."""
        from inspector.report import Report

        return Report(self.name, {"leaks": self.fact})

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __repr__(self) -> str:
        if self._fact is None:
            return "<leaks: not run>"
        kinds = ", ".join(f"{one.kind} in {one.method or '?'}" for one in self.verdicts)
        return f"<leaks: {kinds or 'none found'}>"


def leaks(
    *modules: str | ModuleType, repeat: int | None = None, cells: Mapping[str, int] | None = None
) -> Leaked:
    """Watch the references that native code of `modules` (none: all) obtains, gives away and loses.

    `with leaks("mymodule") as found: ...`, then `found.verdicts`. `leaks("mymodule").run(function)` runs it 3
    times, then `repeat` (3) times, and tells what every run shows. `cells` maps file names to numbers of
    notebook cells. Raises InspectorError `unknown-module`, `trace-running`, `bad-option`.
    """
    _check(repeat)
    from inspector.sessions.chosen_modules import names_of

    return Leaked(names_of(modules), cells, repeat)


class NoLeaks:
    """A block that raises InspectorError `leaked` where native code certainly lost a reference."""

    def __init__(self, found: Leaked) -> None:
        self.found = found

    def __enter__(self) -> Leaked:
        return self.found.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.found.__exit__(kind, error, trace)
        if kind is None and (certain := self.found.certain):
            raise _lost(certain, self.found.fact.many(certain[0]))


def no_leaks(*modules: str | ModuleType) -> NoLeaks:
    """A block, `with no_leaks("mymodule"):`, that raises InspectorError `leaked` for a certain leak."""
    return NoLeaks(leaks(*modules))


def _lost(certain: tuple[Verdict, ...], many: str) -> InspectorError:
    first = certain[0]
    source = getattr(first.conversion, "source", "")
    more = f", and {len(certain) - 1} more" if len(certain) > 1 else ""
    where = f" at {source}" if isinstance(source, str) and source else ""
    return InspectorError(
        f"{first.kind} in {first.method or 'native code'}{where}: {first.object or 'no object'}{many}{more}.",
        slug="leaked",
        why=f"{first.reason}; {first.rule}",
        do=first.cure,
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """A collection would end owners between their count and their search, and meet the dead kept apart."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _judged(found: Found, alone: bool) -> Leaks:
    from inspector.ledger.suspects import searched
    from inspector.verdicts.leaks import kept, verdicts

    keep: set[int] = set()
    try:
        facts = searched(found)
        keep = {int(one.address) for one in facts.suspects if one.died and one.certain_owners}
        given = _give_back(found, facts.suspects, keep)
    finally:
        found.release(keep)
    return Leaks(
        verdicts=verdicts(facts.suspects, facts.faults, facts.dangling, alone),
        kept=kept(facts.suspects),
        suspects=len(facts.suspects),
        left_out=facts.left_out,
        not_noted=found.not_noted,
        given_back=given,
        runs=1,
        wall_ns=found.wall_ns,
        scan_ns=facts.scan_ns,
        scanned_bytes=facts.scanned_bytes,
        hooked=len(found.slots),
        unlike=facts.unlike,
        notes=_unhooked(found.without_trampoline),
    )


def _unhooked(without_trampoline: Mapping[str, int]) -> tuple[str, ...]:
    """What is not seen, where the process has hooked so much that no thunk was left."""
    if not without_trampoline:
        return ()
    from inspector.tracing.events.name_tables import library_of

    names = sorted({library_of(path) for path in without_trampoline})
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (
        f"{sum(without_trampoline.values()):,} import slots of {', '.join(names[:3])}{more} are not hooked: this "
        "process used all there are; in a new process name the modules",
    )


def _give_back(found: Found, suspects: tuple[Suspect, ...], keep: set[int]) -> int:
    """Objects with more owners than references get the missing ones: else they would die under them."""
    from inspector import _native

    subjects = {row[1]: (row[0], row[3] & _native.LEDGER_FLAGS["HELD"]) for row in found.rows}
    given = 0
    for one in suspects:
        missing = one.certain_owners - one.references
        subject, held = subjects.get(int(one.address), (None, 0))
        if one.died or subject is None or missing <= 0:
            continue
        if held:  # the reference held for safety becomes its own
            keep.add(int(one.address))
        _native.ledger_give_back(subject, missing - bool(held))
        given += missing
    return given


def _check(repeat: int | None) -> None:
    if repeat is not None and (type(repeat) is not int or repeat < 1):
        raise InspectorError(f"repeat is {repeat!r:.40}.", slug="bad-option", do="a whole number from 1 on")


def _repeated(facts: list[Leaks], drifts: tuple[Drift, ...] | None) -> Leaks:
    """What every run shows, and what every run moves. What only some show filled a cache."""
    from inspector.verdicts.leaks import confirmed, key, of_drifts

    last = facts[-1]
    apart = tuple(one for one in last.verdicts if one.kind == OUTSIDE)  # judged over all runs
    facts = [replace(fact, verdicts=tuple(one for one in fact if one.kind != OUTSIDE)) for fact in facts]
    common = set.intersection(*({key(one) for one in fact.verdicts} for fact in facts))
    if drifts is not None:  # a count that is perhaps too low falls with every run, or is not
        common -= {key(one) for one in last.verdicts if one.kind in DEADLY and not one.certain}
    once = sum(key(one) not in common for fact in facts for one in fact.verdicts)
    notes = last.notes + ((f"{once} seen in some runs only: a cache that filled",) if once else ())
    verdicts = tuple(
        replace(one, reason=f"{one.reason}; again in each of {len(facts)} runs")
        for one in last.verdicts
        if key(one) in common
    )
    verdicts = confirmed(verdicts, drifts or ())
    moved = of_drifts(drifts or (), verdicts)
    told = sorted((*verdicts, *moved, *apart), key=lambda one: not one.certain)
    return replace(last, verdicts=tuple(told), runs=len(facts), notes=notes)
