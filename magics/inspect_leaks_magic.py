"""`%%inspect_leaks`: run a cell, and show references that native code leaked."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from inspector.magics import cell as cells
from inspector.magics import options as taken
from inspector.magics import progress, showing
from inspector.magics.expressions import evaluate
from inspector.magics.writing import drawn
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import parse_argstring

from inspector.errors import InspectorError
from inspector.faces.arguments import DRAW, LEAKS, ON, WRITE
from inspector.report import Report
from inspector.sessions import leaks
from inspector.sessions.growth.block import with_growth
from inspector.sessions.growth.sampled import Sampled
from inspector.sessions.leaks import Leaked
from inspector.sessions.lost import lost, lost_since, with_lost
from inspector.sessions.memory import memory

if TYPE_CHECKING:
    from inspector.faces.cluster.blocks import ClusterLeaked

WIDTH = 80
"""Columns of the text form."""


@magics_class
class InspectLeaksMagics(Magics):
    """The magic."""

    shell: InteractiveShell

    @no_var_expand
    @cell_magic
    @taken.declared("inspect_leaks", ON, *LEAKS, *DRAW, *WRITE)
    def inspect_leaks(self, line: str, cell: str) -> Report | None:
        """Run the cell, and show references that native code leaked, stole or over-released.

        ::

          %%inspect_leaks -m mymodule          only the extension module mymodule
          %%inspect_leaks --repeat 3           what each of 3 runs shows, after 3 warm-up runs
          %%inspect_leaks --repeat 3 --isolate the same in a forked child; a crash is reported
          %%inspect_leaks --repeat 3 --confirm each certain leak read a second time, by 200 runs more
          %%inspect_leaks --on client          on the workers of a Dask cluster

        All hooks are removed when the cell ends, even by an exception.
        """
        try:
            options = self._read(line)
            prepared = cells.Prepared(self.shell, cell)
            if prepared.awaits:
                raise InspectorError(
                    "a cell that awaits cannot be watched for leaks.",
                    slug="not-an-expression",
                    do="move it into a coroutine, and run that with asyncio.run",
                )
            report = self._report(prepared, options)
            if options.json:
                print(report.to_json())
                return None
            return showing.give(self.shell, drawn(report, options))
        except InspectorError as error:
            showing.refuse(error, "inspect_leaks", cell)
            return None

    def _report(self, prepared: cells.Prepared, options: argparse.Namespace) -> Report:
        if options.on or options.isolate:  # other processes grow
            return self._watched(prepared, options).report
        memory()  # what its first use imports is no growth
        earlier = lost()
        before = memory()
        with Sampled(cells.numbers(self.shell), borrows=True) as sampled:
            found = self._watched(prepared, options)
        runs = 1 if options.repeat is None else leaks.WARM_UP + options.repeat
        return with_lost(with_growth(found.report, before, runs, sampled), lost_since(earlier))

    def _watched(self, prepared: cells.Prepared, options: argparse.Namespace) -> Leaked | ClusterLeaked:
        """Run the cell once, or --repeat times. Where it raises, the verdicts are shown first."""
        if options.on:
            return self._on_workers(prepared, options)
        found = leaks.leaks(*options.modules or (), cells=cells.numbers(self.shell))
        for word in ("isolate", "confirm"):
            if vars(options)[word] and options.repeat is None:
                raise InspectorError(
                    f"--{word} needs --repeat.", slug="bad-option", do=f"--repeat 3 --{word}"
                )
        if options.repeat is not None:
            return found.run(prepared.run, options.repeat, isolate=options.isolate, confirm=options.confirm)
        with showing.shown_if_raised(lambda: drawn(found.report, options)), found:
            prepared.run()
        return found

    def _on_workers(self, prepared: cells.Prepared, options: argparse.Namespace) -> ClusterLeaked:
        from inspector.faces.cluster.client import on

        if options.repeat is not None:
            raise InspectorError(
                "--repeat works only in this process.", slug="bad-option", do="--on client, without --repeat"
            )
        client = evaluate(options.on, self.shell.user_ns, showing.calling_frame())
        with (
            progress.of_workers() as progressed,
            on(client, progressed).leaks(*options.modules or ()) as found,
        ):
            prepared.run()
        return found

    def _read(self, line: str) -> argparse.Namespace:
        with taken.refusing("%%inspect_leaks", line[:60]):
            options: argparse.Namespace = parse_argstring(vars(type(self))["inspect_leaks"], line)
        options.width = options.width or WIDTH
        return options
