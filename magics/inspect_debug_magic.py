"""`%%inspect_debug`: run a cell in a forked child under gdb; other cells step it."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any, Final

from inspector.magics import cell as cells
from inspector.magics import cell_frames, showing
from inspector.magics.options import helped
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from inspector.errors import InspectorError
from inspector.facts.stack import Stop
from inspector.report import Report
from inspector.sessions import running, waiting

FIRST_STOP_S: Final = 60.0
STEP_S: Final = 30.0
LIVE: Final = "--live"
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
    "wait",
    "quit",
)


@magics_class
class DebugMagics(Magics):
    """The magic that debugs one forked child at a time."""

    shell: InteractiveShell
    child: Any = None
    panel: Any = None
    """The child's live view, with --live; else None."""
    cell: str = ""
    """The file name of the cell that the child runs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        running.guard(True)  # for `inspector attach PID step`, whose gdb may be killed

    def leave(self) -> None:
        """End the child, and disarm the SIGTRAP guard."""
        self._end()
        running.guard(False)

    @no_var_expand
    @line_cell_magic
    @helped
    def inspect_debug(self, line: str, cell: str | None = None) -> None:
        """Run a cell in a forked child under gdb; stop it at a place or a crash, and step it.

        The kernel keeps running. Changes that the child makes are lost.

        ::

          %%inspect_debug --at ext.c:12      above a cell: stop there, and at a crash (SIGSEGV ...)
          %%inspect_debug --live --at ext.c:12       the same, with buttons that step
          %inspect_debug next                step, next, finish, continue, up, down
          %inspect_debug print *p            print EXPR, watch EXPR, locals, stack
          %inspect_debug wait                go on waiting for a stop, where the cell does not end
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
            showing.refuse(error, "inspect_debug", cell)

    def _begin(self, line: str, cell: str) -> None:
        words = line.split()
        live = LIVE in words and hasattr(self.shell, "kernel")
        line = " ".join(word for word in words if word != LIVE)
        places = [part.strip().strip("'\"") for part in line.split("--at") if part.strip()]
        self._end()
        prepared = cells.Prepared(self.shell, cell)
        self.cell = prepared.name
        self.child = running.debug(prepared.run, *places)
        self._wait(live)

    def _wait(self, live: bool = False) -> None:
        """Show the next stop; what the threads wait for where none comes."""
        answer = waiting.awaited(self.child, FIRST_STOP_S, cell_frames.place_of(self.shell))
        if not isinstance(answer, Report):
            self._show(answer, live)
            return
        sys.stdout.write(self.child.output())
        showing.show(answer)
        print("The cell still runs: `%inspect_debug wait` goes on waiting, `%inspect_debug quit` ends it.")

    def _word(self, word: str, argument: str) -> None:
        if word not in WORDS:
            raise InspectorError(
                f"unknown command {word[:40]!r}.", slug="bad-option", do=f"use one of {', '.join(WORDS)}"
            )
        if self.child is None:
            raise InspectorError(
                "nothing is being debugged.",
                slug="not-debugging",
                why="no child was started, or it has ended",
                do="write %%inspect_debug --at PLACE above a cell",
            )
        if word == "quit":
            self._end()
            return
        if word == "wait":
            self._wait()
            return
        self._show(self.child.command(word, argument.strip(), STEP_S))

    def _show(self, answer: Any, live: bool = False) -> None:
        """Show where the child stopped, in the open live view too."""
        sys.stdout.write(answer.output)
        stop = self._in_cells(answer.stop)
        if self.panel is not None:
            self.panel.shows(stop, answer.output or _ended(answer))
        if stop is None:
            print(_ended(answer))
            self.child = self.panel = None
            return
        last = running.last_calls(self.child, stop.reason)
        report = running.stopped(stop, last)
        if live:
            from inspector.magics.widgets import steps

            self.panel = steps.open_view(stop, report, self._stepped, answer.output)
        showing.show(self.panel if live else report)

    def _stepped(self, word: str) -> tuple[Stop | None, str]:
        if self.child is None:
            return None, "the child has ended"
        if word == "quit":
            self._end()
            return None, "the child was ended; its changes are lost"
        try:
            answer = self.child.command(word, "", STEP_S)
        except InspectorError as error:
            if error.slug == "gdb-ended":
                self._end()
            raise
        if answer.stop is None:
            self.child = None
            return None, _ended(answer)
        return self._in_cells(answer.stop), answer.output

    def _in_cells(self, stop: Stop | None) -> Stop | None:
        return None if stop is None else cell_frames.of_stop(self.shell, stop, self.cell)

    def _end(self) -> None:
        if self.child is not None:
            self.child.close()
            self.child = self.panel = None


def _ended(answer: Any) -> str:
    return f"the child ended with code {answer.exit_code}; its changes are lost"
