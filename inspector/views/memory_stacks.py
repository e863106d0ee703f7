"""Memory as stacks with weights, as profilers' viewers draw them: an account, and what was asked for."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from inspector.facts.account import KINDS, Account
from inspector.facts.growth import Growth, GrowthSource
from inspector.facts.unknown import Unknown

WHEN: Final = ("before", "after")


class Frame(NamedTuple):
    """A level of a stack."""

    name: str
    file: str = ""
    line: int = 0


class Stacks(NamedTuple):
    """Stacks that add up to `total` bytes; frames outermost first."""

    name: str
    rows: tuple[tuple[tuple[Frame, ...], int], ...]

    @property
    def total(self) -> int:
        """Bytes of all stacks."""
        return sum(size for _, size in self.rows)


def stacks(facts: Mapping[str, Any]) -> tuple[Stacks, ...]:
    """Of a report of memory: what was asked for by line, then the accounts; () of any other report."""
    growth, account = facts.get("growth"), facts.get("account")
    found = list[Stacks]()
    if isinstance(growth, Growth):
        found += [of_growth(growth)] if growth.sources else []
        found += [of_account(one, when) for one, when in zip(growth.accounts, WHEN, strict=False)]
    if isinstance(account, Account):
        found.append(of_account(account, "memory"))
    return tuple(found)


def of_account(account: Account, when: str) -> Stacks:
    """A stack for each part: its row, then itself."""
    rows = (
        ((Frame(KINDS[row.kind]), Frame(part.name)), part.resident_bytes)
        for row in account.rows
        for part in row.parts
    )
    return Stacks(f"{when}: process {account.pid}", tuple(rows))


def of_growth(growth: Growth) -> Stacks:
    """A stack for each source: the user's line, what it called in Python and in C, the allocator."""
    return Stacks(
        "asked for, still in use", tuple((tuple(_frames(row)), row.bytes) for row in growth.sources)
    )


def _frames(row: GrowthSource) -> Iterator[Frame]:
    site = row.site
    file = "" if isinstance(site.file, Unknown) else site.file
    line = 0 if isinstance(site.line, Unknown) else site.line
    beside = "beside: " if row.beside else ""
    yield Frame(f"{beside}{site.text or 'code outside Python'}", file, line)
    yield from map(Frame, reversed(row.path))
    yield from map(Frame, reversed(row.native))
    yield Frame(row.allocator)
