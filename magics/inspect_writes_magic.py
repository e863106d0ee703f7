"""`%%inspect_writes`: who writes to an object's memory while the cell below it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from inspector.magics import cell as cells
from inspector.magics import showing
from inspector.magics.expressions import evaluate
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from inspector import running
from inspector.arguments import DRAW
from inspector.errors import InspectorError
from inspector.report import Report


def _with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(DRAW):
        function = argument(*option.flags, **option.settings)(function)
    function = argument("--budget", type=int, default=1000, metavar="N", help="writes recorded (1000)")(
        function
    )
    function = argument("--part", default="bytes", help="bytes, refcount or .attribute")(function)
    function = argument("expression", nargs="+", help="what is watched: x, x[3:4], obj")(function)
    decorated: Callable[..., Any] = magic_arguments("inspect_writes")(function)
    return decorated


@magics_class
class WritesMagics(Magics):
    """The magic of the processor's watchpoints."""

    shell: InteractiveShell

    @no_var_expand
    @line_cell_magic
    @_with_options
    def inspect_writes(self, line: str, cell: str | None = None) -> None:
        """Run a cell and show each write to an object's memory: value, native and Python stack.

        At most 32 bytes; all threads. The kernel is not stopped: about 20 us a write.

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
            showing.refuse(error)
            return
        showing.show(report.drawn(everything=options.all, verbose=options.verbose, explain=options.explain))

    def _options(self, line: str) -> argparse.Namespace:
        try:
            options: argparse.Namespace = parse_argstring(type(self).inspect_writes, line)
        except (UsageError, ValueError) as error:
            raise InspectorError(
                f"{error}.",
                slug="bad-option",
                why=f"typed: {line.strip()}",
                do="%inspect_writes? lists the options",
            ) from None
        return options

    def _watched(self, options: argparse.Namespace, source: str) -> Report:
        """Run the cell under the watch; what it raises is the user's, and the writes are shown before it."""
        prepared = cells.Prepared(self.shell, source)
        expression = " ".join(options.expression)
        watch = running.writes(evaluate(expression, self.shell.user_ns), options.part, options.budget)
        try:
            with watch:
                prepared.run()
        except InspectorError:
            raise
        except BaseException:
            showing.show(Report(expression, {"writes": watch.facts}))
            raise
        return Report(expression, {"writes": watch.facts})
