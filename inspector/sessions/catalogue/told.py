"""Questions to the catalogue, answered by rules."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspector.facts.catalogue import Catalogue, Rules
from inspector.sessions.catalogue import run, stored
from inspector.sessions.catalogue.rules import count, rules


def asked(name: str) -> Rules:
    """What an operation does in each stored release. Raises no-such-operation."""
    return told(stored.of_operation(name))


def counted() -> Rules:
    """How much of which releases is stored."""
    return Rules((), count(stored.every()))


def called(library: str, only: str, folder: Path | None, progress: Callable[[int, int], Any]) -> Rules:
    """What the operations of an installed library do, called now; saved in `folder` if it is given."""
    found = run.run(library, [stored.full_name(only)] if only else (), progress)
    if folder is not None:
        stored.save(found, folder)
    return told((found,))


def told(found: tuple[Catalogue, ...]) -> Rules:
    """Rules, counts and disagreements of catalogues."""
    wrong = tuple(case for one in found for case in one.cases if case.agrees == "no")
    return Rules(rules(found), count(found), wrong, tuple(row for one in found for row in one.lost))
