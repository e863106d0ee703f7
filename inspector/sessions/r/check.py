"""The methods of an R vector's ALTREP class against each other, in children of the R that made it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import InspectorError

if TYPE_CHECKING:
    from inspector.facts.answers import Answers
    from inspector.facts.lazy import LazyContract


def contract_answers(found: LazyContract) -> Answers:
    """The first sentence about a contract."""
    from inspector.verdicts import r_contract

    return r_contract.contract_answers(found)


def check_altrep(command: Sequence[str]) -> LazyContract:
    """Run `Rscript ... -e EXPR`; return which clauses of the contract the class of EXPR's value keeps.

    Raises InspectorError `no-program`, `no-r`, `no-altrep`.
    """
    from inspector.tracing.record.launch import run_check
    from inspector.verdicts.r_contract import contract

    with tempfile.TemporaryDirectory(prefix="inspector-altrep-") as folder:
        path = Path(folder) / "said.jsonl"
        code = run_check(command, path)
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if not code and not rows:
        raise InspectorError(
            "no R was asked.",
            slug="no-r",
            why="this R has not the functions of R 4, or ended before the last -e",
            do="try the expression without inspector",
        )
    if code or not rows or not rows[0]["altrep"] or not rows[0]["length"]:
        raise InspectorError(
            "the expression gave no vector of an ALTREP class that has elements.",
            slug="no-altrep",
            why=f"Rscript exited with {code}" if code else "its value is an ordinary object, or empty",
            do="inspector check-altrep -- Rscript -e 'library(p)' -e 'p::lazy(c(3, NA, 1))'",
        )
    return contract(rows[0], {row["check"]: row for row in rows[1:]})
