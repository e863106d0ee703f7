"""The lazy vectors of an R program that is run: by statement made, read and materialized."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.report import Report


def lazy_vectors(command: Sequence[str], quiet: bool = False) -> tuple[Report, int]:
    """Run R or Rscript; return the report of its lazy vectors, and its exit code.

    `quiet`: its output goes to stderr. Raises InspectorError `no-program`, `no-r`.
    """
    from inspector.report import Report
    from inspector.tracing.record import launch, lazy_rows
    from inspector.verdicts.r_objects import lazy_answers

    with tempfile.TemporaryDirectory(prefix="inspector-lazy-") as folder:
        code = launch.run_lazy(command, folder, quiet)
        scripts = [word for word in command[1:] if not word.startswith("-")]
        fact = lazy_rows.read(Path(folder), scripts[0] if scripts else command[0])
    return Report(fact.script, {"answers": lazy_answers(fact), "lazy_trace": fact}), code
