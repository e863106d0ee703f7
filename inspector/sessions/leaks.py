"""The verb `leaks`: a context manager that afterwards holds the verdicts on references."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.facts.leaks import DEADLY, KeptByC, Leaks, Suspect, Verdict
from inspector.objects.collector import uncollected

if TYPE_CHECKING:
    from types import ModuleType

    from inspector.ledger.ledger import Found, Ledger
    from inspector.ledger.raw_memory import RawMemory
    from inspector.report import Report

WARM_UP: Final = 3
"""Runs before the counted ones, to fill caches (as CPython's regrtest -R does)."""
RUNS: Final = 3
"""Counted runs, by default."""


class Leaked:
    """Code run under the ledger: a `with` block, or `run(function)`; afterwards the attributes are facts."""

    name = "leaks"
    hosts = False
    """Whether references that a program embedding this Python obtains are watched too."""
    late = False
    """Whether modules that cannot be found yet may be imported later."""
    searches = True
    """Whether memory is searched for owners; else only what counts prove is told."""
    strict = True
    """Whether a module that was not watched is an error at once; else `unwatched` tells it."""

    def __init__(
        self, modules: tuple[str, ...], cells: Mapping[str, int] | None = None, repeat: int | None = None
    ) -> None:
        self._modules, self._cells, self._repeat = modules, dict(cells or {}), repeat
        self._ledger: Ledger | None = None
        self._fact: Leaks | None = None
        self.unsearched: Counter[str] = Counter()
        """Without a search: what it would judge; a native function -> its objects."""

    def __enter__(self) -> Leaked:
        if self._repeat is not None:
            raise InspectorError(
                "a `with` block runs once; repeat= does not apply to it.",
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

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.end()
        if kind is None:
            self._require_watched()
        deadly = tuple(one for one in self.certain if one.kind in DEADLY)
        if deadly and isinstance(error, Exception):  # the code may have met what C code had freed
            error.add_note(f"inspector: {lost(deadly, self.fact.many(deadly[0]))}")

    def _require_watched(self) -> None:
        if self.strict and (error := self.unwatched) is not None:
            raise error

    @property
    def unwatched(self) -> InspectorError | None:
        """The error that a module asked for was not watched; None if each was."""
        from inspector.sessions.leaks_unwatched import unwatched

        return unwatched(self._fact.watched) if self._fact is not None else None

    def stage(self) -> None:
        """Begin a stage, the next test of several, while the block runs: each verdict tells its `stage`."""
        if self._ledger is not None:
            self._ledger.stage()

    def end(self, frames_from: int = 0, alone: bool = True, goes_on: bool = False) -> None:
        """Close the ledger and judge. `frames_from`: stack address above which a host's frames run.

        `goes_on`: another run follows; raw memory is judged after the last one.
        """
        from inspector import _native
        from inspector.ledger.suspects import unsearched
        from inspector.sessions.leaks_raw_memory import judged
        from inspector.sessions.leaks_told import with_words

        ledger, self._ledger = self._ledger, None
        if ledger is None:
            return
        if ledger.stages:  # functions that began meanwhile call this one, and hold objects on the stack
            frames_from = frames_from or _native.stack_height()
        try:
            with uncollected():  # owners would be freed between count and search, dead objects met
                found = ledger.stop(frames_from)
                if not self.searches:
                    self.unsearched = unsearched(found) + ledger.raw_memory.unsearched()
                self._fact = _judged(found, alone, self.searches)
                if not goes_on and self.searches:
                    self._fact = judged(self._fact, found, ledger.raw_memory)
                if not goes_on:
                    self._fact = with_words(self._fact)
        finally:
            ledger.found.disown()
            if not goes_on:
                ledger.raw_memory.close()

    def run(
        self,
        function: Callable[[], Any],
        repeat: int | None = None,
        *,
        isolate: bool = False,
        confirm: bool = False,
    ) -> Leaked:
        """Call `function` 3 times to warm up, then `repeat` (3) times; faults show in every run. Gives self.

        The first call is watched too: a reference that it certainly released too often ends the runs at once.
        `confirm` calls it 200 times more, unwatched: a certain leak of which these leave nothing is possible.
        `isolate` runs in a forked child, so that a crash becomes a verdict; changes by `function` are lost.
        Raises InspectorError `not-isolated` if the child returns no answer, `bad-option`.
        """
        from inspector.sessions.leaks_told import with_words

        _check(repeat)
        repeat = repeat or self._repeat or RUNS
        if isolate:
            from inspector.sessions.leaks_isolated import apart

            self._fact = apart(
                lambda: self._repeated(function, repeat, confirm, in_copy=True),
                lambda: self._once(function, alone=True),
            )
        else:
            self._fact = self._repeated(function, repeat, confirm)
        self._fact = with_words(self._fact)
        self._require_watched()
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

    def _repeated(
        self, function: Callable[[], Any], repeat: int, confirm: bool, in_copy: bool = False
    ) -> Leaks:
        from inspector.ledger.charges import charged
        from inspector.ledger.growth import Growth
        from inspector.ledger.lost import lost as search
        from inspector.ledger.raw_memory import RawMemory
        from inspector.verdicts.growth import over_runs

        first = self._once(function)  # the ledger holds references: too many releases are harmless here
        if any(one.certain and one.kind in DEADLY for one in first.verdicts):
            return replace(first, notes=(*first.notes, "not repeated: unwatched it may crash the process"))
        for _ in range(WARM_UP - 1):
            function()
        growth, facts, raw_memory = Growth(), [], RawMemory()
        try:
            for left in range(repeat, 0, -1):
                if left <= Growth.RUNS_MAX:
                    growth.note()
                facts.append(self._once(function, raw_memory, goes_on=left > 1))
            drifts = growth.end() if repeat >= growth.RUNS_LEAST else None
            if drifts and growth.moved:
                drifts = charged(drifts, growth.moved, self._modules, function, in_copy)
            lost = search().rows if any(one.kept and one.fresh for one in drifts or ()) else ()
            fact = over_runs(facts, drifts, lost)
        finally:
            growth.forget()
            raw_memory.close()
        return _confirmed(fact, function) if confirm else fact

    @property
    def is_open(self) -> bool:
        """Whether the block is running."""
        return self._ledger is not None

    @property
    def is_judged(self) -> bool:
        """Whether a block has ended: there is a `fact`."""
        return self._fact is not None

    @property
    def fact(self) -> Leaks:
        """All results as one fact. Raises InspectorError `trace-not-finished` before a block has ended."""
        if self._fact is None:
            raise InspectorError(
                "no block has ended under this ledger yet.",
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
        """Faults with no other explanation; () before a block has ended."""
        return tuple(one for one in self._fact or () if one.certain)

    @property
    def kept(self) -> tuple[KeptByC, ...]:
        """References that native code keeps on purpose."""
        return self.fact.kept

    @property
    def report(self) -> Report:
        """The verdicts as a Report."""
        from inspector.sessions.leaks_told import report

        return report(self.name, self.fact)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __repr__(self) -> str:
        if self._fact is None:
            return "<leaks: not run>"
        from inspector.verdicts.leak_words import leak_answers

        said = " ".join(row.text for row in leak_answers(self._fact).rows)
        return f"<leaks: {said.replace('`', '')}>"


def leaks(
    *modules: str | ModuleType, repeat: int | None = None, cells: Mapping[str, int] | None = None
) -> Leaked:
    """Watch the references that native code of `modules` (none: all) obtains, gives away and loses.

    `with leaks("mymodule") as found: ...`, then `found.verdicts`; or `leaks("mymodule").run(function)`,
    which keeps the faults that each of `repeat` (3) runs shows, after 3 warm-up runs. `cells`: file name ->
    number of the notebook cell. Raises InspectorError `unknown-module`, `trace-running`, `bad-option`.
    """
    _check(repeat)
    from inspector.sessions.chosen_modules import names_of

    return Leaked(names_of(modules), cells, repeat)


class NoLeaks:
    """A block that raises InspectorError `leaked` if native code certainly lost a reference."""

    def __init__(self, found: Leaked) -> None:
        self.found = found
        self.is_known: Callable[[Verdict], bool] = lambda verdict: False
        """Whether a fault is expected: it raises nothing."""

    def __enter__(self) -> Leaked:
        return self.found.__enter__()

    @property
    def certain(self) -> tuple[Verdict, ...]:
        """The certain faults that are not known."""
        return tuple(one for one in self.found.certain if not self.is_known(one))

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.found.__exit__(kind, error, trace)
        if kind is None and (certain := self.certain):
            raise lost(certain, self.found.fact.many(certain[0]))


def no_leaks(*modules: str | ModuleType) -> NoLeaks:
    """A block, `with no_leaks("mymodule"):`, that raises InspectorError `leaked` for certain faults."""
    return NoLeaks(leaks(*modules))


def lost(certain: tuple[Verdict, ...], many: str) -> InspectorError:
    """The error that tells the first of certain faults; `many`: of how many objects."""
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


def _judged(found: Found, alone: bool, searches: bool) -> Leaks:
    from inspector.ledger.suspects import searched
    from inspector.verdicts.growth import kept
    from inspector.verdicts.leaks import verdicts

    keep: set[int] = set()
    try:
        facts = searched(found, searches)
        keep = {int(one.address) for one in facts.suspects if one.died and one.certain_owners}
        added = _give_back(found, facts.suspects, keep)
    finally:
        found.release(keep)
    return Leaks(
        verdicts=verdicts(facts.suspects, facts.faults, facts.dangling, alone),
        kept=kept(facts.suspects),
        suspects=facts.count,
        left_out=facts.left_out,
        not_noted=found.not_noted,
        given_back=added,
        runs=1,
        wall_ns=found.wall_ns,
        scan_ns=facts.scan_ns,
        scanned_bytes=facts.scanned_bytes,
        hooked=len(found.slots),
        unlike=facts.unlike,
        notes=_unhooked(found.without_trampoline) if found.without_trampoline else (),
        watched=found.watched,
    )


def _unhooked(without_trampoline: Mapping[str, int]) -> tuple[str, ...]:
    """A note on slots that are not hooked because the process has used all trampolines."""
    from inspector.tracing.events.name_tables import library_of

    names = sorted({library_of(path) for path in without_trampoline})
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (
        f"{sum(without_trampoline.values()):,} import slots of {', '.join(names[:3])}{more} are not hooked: "
        "this process has used all trampolines; name the modules in a new process",
    )


def _give_back(found: Found, suspects: tuple[Suspect, ...], keep: set[int]) -> int:
    """Add the missing references to objects with more owners than references; return how many were added.

    Only where a second witness agrees with the search: a reference too many is a leak of our own.
    """
    from inspector import _native
    from inspector.verdicts.leaks import witness

    subjects = {row[1]: (row[0], row[3] & _native.LEDGER_FLAGS["HELD"]) for row in found.rows}
    added = 0
    for one in suspects:
        missing = one.certain_owners - one.references
        subject, held = subjects.get(int(one.address), (None, 0))
        if one.died or subject is None or missing <= 0 or not witness(one):
            continue
        if held:  # the reference held for safety becomes its own
            keep.add(int(one.address))
        _native.ledger_give_back(subject, missing - bool(held))
        added += missing
    return added


def _check(repeat: int | None) -> None:
    if repeat is not None and (type(repeat) is not int or repeat < 1):
        raise InspectorError(f"repeat is {repeat!r:.40}.", slug="bad-option", do="give an int, 1 or more")


def _confirmed(fact: Leaks, function: Callable[[], Any]) -> Leaks:
    """The fact after a second reading."""
    from inspector.ledger.second_reading import grown
    from inspector.verdicts.second_reading import agreed

    return agreed(fact, grown(function))
