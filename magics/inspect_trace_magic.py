"""`%%inspect_trace`: run a cell, and show what it copied and converted for native code."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from inspector.magics import cell as cells
from inspector.magics import options as taken
from inspector.magics import progress, showing
from inspector.magics.expressions import evaluate
from inspector.magics.widgets import chosen
from inspector.magics.writing import drawn, printed
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from inspector.errors import InspectorError
from inspector.faces.arguments import DRAW, LIVE, MODULES, ON, ONLY, TRACE, WRITE, only_here, recording
from inspector.report import Report
from inspector.sessions.trace import Traced, part, trace

if TYPE_CHECKING:
    from inspector.faces.cluster.blocks import ClusterTraced


WIDTH = 80
"""Columns of the text form."""


@magics_class
class InspectTraceMagics(Magics):
    """The magic."""

    shell: InteractiveShell

    @no_var_expand
    @line_cell_magic
    @taken.declared("inspect_trace", ON, MODULES, *TRACE, *ONLY, LIVE, *DRAW, *WRITE)
    def inspect_trace(self, line: str, cell: str | None = None) -> Report | Coroutine[Any, Any, None] | None:
        """Run code, and show what it copied, converted and lost between Python and native code.

        ::

          %inspect_trace np.asarray(rows)      one expression
          %%inspect_trace -m numpy             a cell, only functions of numpy
          %%inspect_trace                      a cell, all imported extension modules
          %%inspect_trace --on client          on the workers of a Dask cluster
          %%inspect_trace --live               a live view: timeline, tree of calls, copies

        All hooks are removed when the cell ends, even by an exception.
        """
        parser = taken.parser_of(self, "inspect_trace")
        try:
            options, source = self._read(parser, line, cell)
            prepared = cells.Prepared(self.shell, source)
            if prepared.awaits:
                return self._awaited(prepared, options, cell)
            with self._traced(options) as trace:
                prepared.run()
            report = printed(part(trace, options), options)
            return report and showing.give(self.shell, report, self._view(report, options, trace))
        except InspectorError as error:
            showing.refuse(error, "inspect_trace", cell)
            return None

    async def _awaited(self, prepared: cells.Prepared, options: argparse.Namespace, cell: str | None) -> None:
        """`inspect_trace` for a cell that awaits; IPython's event loop runs this (awaiting.py)."""
        try:
            with self._traced(options) as trace:
                await prepared.run_async()
            if report := printed(part(trace, options), options):
                showing.display_result(self.shell, report, self._view(report, options, trace))
        except InspectorError as error:
            showing.refuse(error, "inspect_trace", cell)

    def _view(self, report: Report, options: argparse.Namespace, trace: Traced | ClusterTraced) -> Any:
        live = options.live and isinstance(trace, Traced)
        return chosen.view(self.shell, report, options, trace=trace) if live else None

    def _read(
        self, parser: argparse.ArgumentParser, line: str, cell: str | None
    ) -> tuple[argparse.Namespace, str]:
        """The options, and the code to run: the cell, or the expression after the line's options."""
        words, expression = _split(line, parser)
        with taken.refusing("%inspect_trace", line[:60]):
            options = parser.parse_args(words)
        if (cell is None) == (not expression):
            raise InspectorError(
                "there is nothing to run."
                if cell is None
                else f"%%inspect_trace takes a cell, not {expression[:60]!r}.",
                slug="not-an-expression",
                do="%inspect_trace f(x), or %%inspect_trace above a cell",
            )
        if options.on and (option := only_here(options)):
            raise InspectorError(
                f"{option} works only in this kernel: workers keep their last records.",
                slug="bad-option",
                do="omit the option",
            )
        options.width = options.width or WIDTH
        return options, expression if cell is None else cell

    @contextmanager
    def _traced(self, options: argparse.Namespace) -> Iterator[Traced | ClusterTraced]:
        """Trace the block; where it raises, the trace is shown first."""
        if options.on:
            from inspector.faces.cluster.client import on

            client = evaluate(options.on, self.shell.user_ns, showing.calling_frame())
            with (
                progress.of_workers() as progressed,
                _value_shown_afterwards(),
                on(client, progressed).trace(*options.modules or ()) as everywhere,
            ):
                yield everywhere
            return
        with progress.of_trace() as recorded:
            yield from self._traced_here(options, recorded)

    def _traced_here(self, options: argparse.Namespace, recorded: progress.TraceProgress) -> Iterator[Traced]:
        numbers = cells.numbers(self.shell)
        traced = trace(*options.modules or (), cells=numbers, told=recorded, **recording(options))
        shown = showing.shown_if_raised(lambda: drawn(part(traced, options), options))
        with shown, _value_shown_afterwards(), traced:
            yield traced


@contextmanager
def _value_shown_afterwards() -> Iterator[None]:
    """Display the last expression's value after the trace, so that drawing it is not traced."""
    shown: list[Any] = []
    hook, sys.displayhook = sys.displayhook, shown.append
    try:
        yield
    finally:
        sys.displayhook = hook
        for value in shown:
            hook(value)


def _split(line: str, parser: argparse.ArgumentParser) -> tuple[list[str], str]:
    """The words of the leading options, and the rest of the line, a Python expression."""
    taking = {flag for action in parser._actions if action.nargs != 0 for flag in action.option_strings}
    words, rest = [], line.strip()
    while rest.startswith("-"):
        word, _, rest = rest.partition(" ")
        words.append(word)
        rest = rest.lstrip()
        if word in taking and rest:
            value, _, rest = rest.partition(" ")
            words.append(value)
            rest = rest.lstrip()
    return words, rest
