"""`%%inspect_writes`: who writes to an object's memory while the cell below it runs."""

from __future__ import annotations

import argparse

from inspector.magics import cell as cells
from inspector.magics import options as taken
from inspector.magics import showing
from inspector.magics.expressions import evaluate
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import parse_argstring

from inspector.errors import InspectorError
from inspector.faces.arguments import DRAW, Option
from inspector.report import Report
from inspector.sessions import running

WATCH = (
    Option(("expression",), {"nargs": "+", "help": "what is watched: x, x[3:4], obj"}),
    Option(("--part",), {"default": "bytes", "help": "bytes, refcount or .attribute"}),
    Option(("--budget",), {"type": int, "default": 1000, "metavar": "N", "help": "writes recorded (1000)"}),
)


@magics_class
class WritesMagics(Magics):
    """The magic of a watch on writes."""

    shell: InteractiveShell

    @no_var_expand
    @line_cell_magic
    @taken.declared("inspect_writes", *WATCH, *DRAW)
    def inspect_writes(self, line: str, cell: str | None = None) -> None:
        """Run a cell and show each write to an object's memory: value, native and Python stack.

        All threads. The kernel is not stopped: a write costs 20 us up to 32 bytes, 50 us in a wider range.

        ::

          %%inspect_writes x[3:4]              above a cell
          %%inspect_writes obj --part .count   a field; --part refcount: the count
          %inspect_writes x[:2] -- x.sort()    one statement
        """
        try:
            asked, _, statement = line.partition(" -- ")
            options = self._options(asked)
            if cell is None and not statement.strip():
                raise InspectorError(
                    "there is nothing to run.",
                    slug="not-an-expression",
                    why="a watch lasts as long as a statement or a cell",
                    do="%inspect_writes x[3:4] -- STATEMENT, or %%inspect_writes above a cell",
                )
            report = self._watched(options, statement if cell is None else cell)
        except InspectorError as error:
            showing.refuse(error, "inspect_writes", cell)
            return
        showing.show(report.drawn(everything=options.all, verbose=options.verbose, explain=options.explain))

    def _options(self, line: str) -> argparse.Namespace:
        with taken.refusing("%inspect_writes", line):
            options: argparse.Namespace = parse_argstring(type(self).inspect_writes, line)
        return options

    def _watched(self, options: argparse.Namespace, source: str) -> Report:
        """Run the cell under the watch; what it raises is the user's, and the writes are shown before it."""
        prepared = cells.Prepared(self.shell, source)
        expression = " ".join(options.expression)
        watch = running.writes(evaluate(expression, self.shell.user_ns), options.part, options.budget)
        with showing.shown_if_raised(lambda: Report(expression, {"writes": watch.facts})), watch:
            prepared.run()
        return Report(expression, {"writes": watch.facts})
