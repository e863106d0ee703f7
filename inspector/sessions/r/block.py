"""A block of R statements, run by inspect_trace: what crossed, and what became of lazy vectors."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector.facts.lazy_trace import LazyMade, LazyStatement, LazyTrace, LazyVector

if TYPE_CHECKING:
    from inspector.report import Report

SOURCE: Final = """function() {
    now <- getOption("inspector.block")
    called <- if (length(now) && grepl("r_to_py(", now[[2L]], fixed = TRUE)) "r_to_py" else ""
    list(if (is.null(now)) c(rep("", 11L), "starting")
         else c("", now[[1L]], now[[1L]], now[[2L]], "", "0", "", "", called, "", "", ""), NULL)
}"""
"""R: the texts of record/r/lines.R for the statement that runs; "starting" between two: that is our own."""
Seen = dict[str, tuple[int, LazyVector, bool]]


class Block:
    """From its making to `end`; `after` each statement."""

    def __init__(self, environment: str) -> None:
        from inspector import _native
        from inspector.tracing.record.r_conversions import RConversions

        self._where = int(environment, 16)
        self._folder = Path(tempfile.mkdtemp(prefix="inspector-block-"))
        self._seen = self._lazy()
        self._statements: list[LazyStatement] = []
        self._conversions = RConversions(self._folder / "conversions.jsonl")
        files = {row[5] for row in _native.maps() if row[5].endswith("/reticulate.so")}
        self._conversions.begin(files, SOURCE)

    def after(self, line: float, text: str) -> None:
        """A statement is over: which lazy vectors have names now, and which are materialized."""
        now, made, done = self._lazy(), [], []
        for name, (address, vector, is_whole) in now.items():
            before = self._seen.get(name)
            is_new = before is None or before[0] != address
            if is_new:
                made.append(vector)
            if is_whole and (is_new or not (before and before[2])):
                done.append(LazyMade(vector, 0, False, False, "", ()))
        self._seen = now
        if made or done:
            self._statements.append(LazyStatement(int(line), text, tuple(made), (), tuple(done)))

    def end(self) -> None:
        """Restore."""
        self._conversions.end()

    def report(self) -> Report:
        """The report; the folder is removed."""
        from inspector.facts.answers import Answers
        from inspector.report import Report
        from inspector.tracing.record.host_lines import of_block
        from inspector.verdicts.host_answers import advice, host_answers
        from inspector.verdicts.r_objects import lazy_answers

        crossed = of_block(self._folder / "conversions.jsonl", sys.version.partition(" ")[0])
        shutil.rmtree(self._folder, ignore_errors=True)
        lazy = LazyTrace("lazy", tuple(self._statements), 0, 0)
        rows = (
            *host_answers(crossed),
            *(lazy_answers(lazy).rows if lazy.statements else ()),
            *advice(crossed),
        )
        facts = {"answers": Answers(rows), "crossed": crossed}
        return Report("block", facts | ({"lazy_trace": lazy} if lazy.statements else {}))

    def _lazy(self) -> Seen:
        """The lazy vectors that the frame's names hold, wrappers left out."""
        from inspector.objects.probes.r_object import lazy_names

        return lazy_names(self._where)
