"""What a block of code added, and what the runs of a leak report left."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator

from inspector.binaries.addresses import place
from inspector.facts.account import Account, grown
from inspector.facts.answers import Answer, Answers
from inspector.facts.growth import Growth, GrowthSource
from inspector.facts.native import Place
from inspector.objects.call_site import is_users
from inspector.objects.classes import module_file
from inspector.objects.probes.account import accounted
from inspector.report import Report
from inspector.sessions.growth.sampled import Sampled
from inspector.sessions.memory import memory
from inspector.verdicts.answers.growth import asked_for
from inspector.verdicts.differences import LEAST_NATIVE_BYTES, growth_of_program, native_growth


class Grew:
    """The block of `growth`; `fact` is there once it has ended."""

    fact: Growth

    def __init__(self, named: Callable[[int], Place] = place) -> None:
        self._named = named

    def __enter__(self) -> Grew:
        self._before = accounted()[0]
        self._sampled = Sampled(named=self._named)
        self._sampled.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._sampled.__exit__(*raised)
        self.fact = self._sampled.growth(self._before)

    @property
    def report(self) -> Report:
        """The same as sentences and tables."""
        return Report("growth", {"answers": Answers(tuple(asked_for(self.fact))), "growth": self.fact})

    def __str__(self) -> str:
        return str(self.report) if hasattr(self, "fact") else "the block has not ended"


def growth() -> Grew:
    """Return a block; afterwards it tells what that added to the process, and which lines asked for it.

    `.fact` is a Growth: by row of the account, and by line, estimated from sampled allocations; `.report`
    draws it. Example: `with inspector.growth() as grew: work()`, then `grew.fact.sources[0].site.line`.
    """
    return Grew()


def with_growth(report: Report, before: Account, runs: int, sampled: Sampled) -> Report:
    """The report; with the memory that `runs` runs of the code left, if it is much, and who asked for it.

    It stands first, unless a fault was found.
    """
    native = tuple(native_growth(grown(before, memory()), runs))
    found = sampled.growth()
    if not native and _bytes(_by_the_user(found)) < LEAST_NATIVE_BYTES:
        return report
    return _told(report, (*native, *asked_for(found, runs)), found)


def with_program(report: Report, before: Account, modules: Collection[str]) -> Report:
    """The report on a whole program; last, which native memory is left. `modules`: loaded before it ran."""
    native = tuple(native_growth(grown(before, memory()), 1))
    if native:
        native = (*native, growth_of_program(_libraries(modules)))
    rows = (*report.answers.rows, *native)
    return Report(report.name, report.facts | {"answers": Answers(rows)})


def _libraries(before: Collection[str]) -> list[str]:
    """The libraries of which a native module was imported since."""
    new = [(name, module) for name, module in list(sys.modules.items()) if name not in before]
    native = {name.partition(".")[0] for name, one in new if (module_file(one) or "").endswith(".so")}
    return sorted(native - sys.stdlib_module_names)


def _told(report: Report, said: tuple[Answer, ...], found: Growth) -> Report:
    told = report.answers.rows
    certain = any(one.certain for one in report.leaks.verdicts)
    rows = (*told, *said) if certain else (*said, *told)
    return Report(report.name, report.facts | {"answers": Answers(rows), "growth": found})


def _by_the_user(growth: Growth) -> Iterator[GrowthSource]:
    """What lines of the user's own asked for: this tool asks for memory too."""
    return (row for row in growth.sources if isinstance(row.site.file, str) and is_users(row.site.file))


def _bytes(rows: Iterable[GrowthSource]) -> int:
    return sum(row.bytes for row in rows)
