"""`%%inspect_debug`: a cell in a forked child under gdb, stepped by other cells while the kernel lives on."""

from __future__ import annotations

import sys
from typing import Any, Final

from inspector.magics import cell as cells
from inspector.magics import showing
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from inspector import running
from inspector.errors import InspectorError
from inspector.report import Report

FIRST_STOP_S: Final = 60.0
STEP_S: Final = 30.0
WORDS: Final = (
    "step",
    "next",
    "finish",
    "continue",
    "up",
    "down",
    "print",
    "watch",
    "locals",
    "stack",
    "quit",
)


@magics_class
class DebugMagics(Magics):
    """The magic of the stopped child; one child at a time."""

    shell: InteractiveShell
    child: Any = None

    @no_var_expand
    @line_cell_magic
    def inspect_debug(self, line: str, cell: str | None = None) -> None:
        """Run a cell in a forked child under gdb, stop it at a place or a crash, and step it.

        The kernel lives on meanwhile. What the child changes does not come back.

        ::

          %%inspect_debug --at ext.c:12      above a cell: stop there, and at SIGSEGV and its like
          %inspect_debug next                step, next, finish, continue, up, down
          %inspect_debug print *p            print EXPR, watch EXPR, locals, stack
          %inspect_debug quit                end the child
        """
        try:
            if cell is None:
                self._word(*line.strip().partition(" ")[::2])
            else:
                self._begin(line, cell)
        except InspectorError as error:
            if self.child is not None and error.slug == "gdb-ended":
                self._end()
            showing.refuse(error)

    def _begin(self, line: str, cell: str) -> None:
        places = [part.strip().strip("'\"") for part in line.split("--at") if part.strip()]
        self._end()
        prepared = cells.Prepared(self.shell, cell)
        self.child = running.debug(prepared.run, *places)
        self._show(self.child.wait(FIRST_STOP_S))

    def _word(self, word: str, argument: str) -> None:
        if word not in WORDS:
            raise InspectorError(
                f"not a word of the debugger: {word[:40]!r}.",
                slug="bad-option",
                do=f"one of {', '.join(WORDS)}",
            )
        if self.child is None:
            raise InspectorError(
                "nothing is being debugged.",
                slug="not-debugging",
                why="no child was started, or it has ended",
                do="%%inspect_debug --at PLACE above a cell",
            )
        if word == "quit":
            self._end()
            return
        self._show(self.child.command(word, argument.strip(), STEP_S))

    def _show(self, answer: Any) -> None:
        sys.stdout.write(answer.output)
        if answer.stop is None:
            print(f"the child ended with code {answer.exit_code}; its changes did not come back")
            self.child = None
            return
        showing.show(Report("stop", {"stop": answer.stop}))

    def _end(self) -> None:
        if self.child is not None:
            self.child.close()
            self.child = None
