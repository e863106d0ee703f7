"""`%%inspect_break`: run a cell and record its calls of native functions; `%inspect_break`: one statement."""

# SPDX-License-Identifier: MIT
import argparse

from inspector.magics import cell as cells
from inspector.magics import cell_frames, showing
from inspector.magics import options as taken
from inspector.magics.widgets import chosen
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from inspector.errors import InspectorError
from inspector.faces.arguments import BREAK, DRAW, LIVE, PANEL, PLACES
from inspector.report import Report
from inspector.sessions import panel, running


@magics_class
class BreakMagics(Magics):
    """The magic of native breakpoints."""

    shell: InteractiveShell

    @no_var_expand
    @line_cell_magic
    @taken.declared("inspect_break", PLACES, *BREAK, LIVE, PANEL, *DRAW)
    def inspect_break(self, line: str, cell: str | None = None) -> None:
        """Run a cell and show its calls of native functions: arguments, Python and native stack.

        gdb attaches to this kernel, which stops for about a second, and detaches after the cell. gdb calls
        no code in the kernel; it watches only the cell's thread.

        ::

          %%inspect_break PyFloat_FromDouble 'ext.c:12 if n > 3'
          np.asarray(rows)

          %%inspect_break --preset numpy --record count
          %%inspect_break --live PyFloat_FromDouble         a live view of places, hits and stacks
          %inspect_break PyFloat_FromString -- float("1.5")       one statement
          %inspect_break --panel numpy.dot      stop there in JupyterLab's debugger, until it is turned off
        """
        try:
            places, _, statement = line.partition(" -- ")
            options = taken.read(self, "inspect_break", places)
            if options.panel:
                self._in_panel([place.strip("'\"") for place in options.places])
                return
            if cell is None and not statement.strip():
                raise InspectorError(
                    "there is nothing to run.",
                    slug="not-an-expression",
                    why="%inspect_break PLACE... -- STATEMENT runs a statement, "
                    "%%inspect_break PLACE... runs a cell",
                    do="write %%inspect_break above a cell, or a statement after --",
                )
            facts = self._collected(options, statement if cell is None else cell)
        except InspectorError as error:
            showing.refuse(error, "inspect_break", cell)
            return
        report = facts.drawn(everything=options.all, verbose=options.verbose, explain=options.explain)
        showing.show(chosen.view(self.shell, report, options) or report)

    def _in_panel(self, places: list[str]) -> None:
        for place, why in zip(places, panel.ask(self.shell, functions=places), strict=True):
            print(f"{place}: {why or 'the panel stops there'}")

    def _collected(self, options: argparse.Namespace, cell: str) -> Report:
        """Run the cell with breakpoints. Where it raises, the hits are shown first, then the error."""
        prepared = cells.Prepared(self.shell, cell)
        session = running.breakpoints(
            *(place.strip("'\"") for place in options.places),
            preset=options.preset,
            prototypes=[line.strip("'\"") for line in options.prototype],
            record=options.record,
            budget=options.budget,
            depth=options.depth,
            all_threads=options.all_threads,
            fast=options.fast,
        )

        def collected() -> Report:
            return running.report(cell_frames.of_hits(self.shell, session.facts, prepared.name))

        with showing.shown_if_raised(collected), session:
            prepared.run()
        return collected()
