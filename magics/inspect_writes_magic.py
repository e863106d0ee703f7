"""`%%inspect_writes`: run a cell, and show which code writes to an object's memory."""

# SPDX-License-Identifier: MIT
import argparse

from inspector.magics import cell as cells
from inspector.magics import options as taken
from inspector.magics import showing
from inspector.magics.expressions import evaluate
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from inspector.errors import InspectorError
from inspector.faces.arguments import DRAW, PANEL, Option
from inspector.report import Report
from inspector.sessions import panel, running

WATCH = (
    Option(("expression",), {"nargs": "*", "help": "the object to watch: x, x[3:4], obj"}),
    Option(("--part",), {"default": "bytes", "help": "what to watch: bytes, refcount or .attribute"}),
    Option(
        ("--budget",),
        {"type": int, "default": 1000, "metavar": "N", "help": "record at most N writes (1000)"},
    ),
)


@magics_class
class WritesMagics(Magics):
    """The magic that watches writes."""

    shell: InteractiveShell
    _kept: object = None
    """What the panel watches: its memory must not become another object's."""

    @no_var_expand
    @line_cell_magic
    @taken.declared("inspect_writes", *WATCH, PANEL, *DRAW)
    def inspect_writes(self, line: str, cell: str | None = None) -> None:
        """Run a cell and show each write to an object's memory: value, Python and native stack.

        Watches all threads without stopping the kernel. Each write takes 20 us longer; 50 us where the
        watched range exceeds 32 bytes.

        ::

          %%inspect_writes x[3:4]              above a cell
          %%inspect_writes obj --part .count   an attribute; --part refcount: its refcount
          %inspect_writes x[:2] -- x.sort()    one statement
          %inspect_writes --panel x            each write stops in JupyterLab's debugger; no x: none does
        """
        try:
            words, _, statement = line.partition(" -- ")
            options = taken.read(self, "inspect_writes", words)
            if options.panel:
                self._in_panel(options)
                return
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

    def _in_panel(self, options: argparse.Namespace) -> None:
        expression = " ".join(options.expression)
        if not expression:
            panel.ask(self.shell, watch=panel.NOTHING)
            panel.protect(panel.NOTHING)
            self._kept = None
            return
        self._kept = evaluate(expression, self.shell.user_ns)
        what = panel.range_of(self._kept, options.part, expression)
        why = panel.ask(self.shell, watch=what)[0] or panel.protect(what)
        print(f"{expression}: {why or 'each write stops in the panel'}")

    def _watched(self, options: argparse.Namespace, source: str) -> Report:
        """Run the cell with the watch. Where it raises, the writes are shown first, then the error."""
        prepared = cells.Prepared(self.shell, source)
        expression = " ".join(options.expression)
        watch = running.writes(evaluate(expression, self.shell.user_ns), options.part, options.budget)
        with showing.shown_if_raised(lambda: Report(expression, {"writes": watch.facts})), watch:
            prepared.run()
        return Report(expression, {"writes": watch.facts})
