"""Questions to the catalogue, answered by rules."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspector.facts.catalogue import Catalogue, Rules
from inspector.sessions.catalogue import run, stored
from inspector.sessions.catalogue.kinds import ARRAYS
from inspector.sessions.catalogue.rules import count, rule, rules


def asked(name: str) -> Rules:
    """What an operation does in each stored release. Raises no-such-operation."""
    return told(stored.of_operation(name))


def cited(library: str, kind: str, function: str) -> str:
    """What a conversion of an object of a type does: "pandas 3.1.1: pd.DataFrame(x): view"; "" if unknown.

    The release that is loaded is meant, or the newest stored one.
    """
    by_type = function == "numpy.asarray" and kind != "ndarray"
    operation = f"{library}.{kind}.__array__" if by_type else function
    operation = operation if "." in operation else f"builtins.{operation}"
    name = operation.partition(".")[0]
    loaded = str(getattr(sys.modules.get(name), "__version__", ""))
    found = dict(stored.cases_of(name, operation))
    version = loaded if loaded in found else next(reversed(found), "")
    alone = [one for one in found.get(version, ()) if one.call.endswith("(x)") and one.did != "unknown"]
    like = [one for one in alone if _is_of(one.kind, kind) and one.call == alone[0].call]
    return f"{name} {version}: {like[0].call}: {rule(like)}" if like else ""


def _is_of(name: str, kind: str) -> bool:
    """Whether a kind of argument is one of objects of a type."""
    plain = kind == "ndarray" and name in dict(ARRAYS)
    return plain or kind in name.replace(",", "").split()


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
