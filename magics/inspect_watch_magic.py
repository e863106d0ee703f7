"""`%inspect_watch`: show the state of watched names, or what grew, after every cell."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector.magics import cell as cells
from inspector.magics import showing
from inspector.magics.options import helped
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class

from inspector import api
from inspector.errors import InspectorError
from inspector.facts.namespace import Namespace
from inspector.report import Report
from inspector.sessions.growth.cells import WatchedCells

EVENT = "post_run_cell"
BEFORE = "pre_run_cell"


@magics_class
class InspectWatchMagics(Magics):
    """Which names are watched, and how they were after the last cell."""

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell, **options: Any) -> None:
        super().__init__(shell, **options)
        self.names: tuple[str, ...] = ()
        self.before: Namespace | None = None
        self.memory: WatchedCells | None = None

    @line_magic
    @helped
    def inspect_watch(self, line: str) -> None:
        """Show each name's references, bytes and state after every cell, and what the cell changed.

        Watching computes no value and brings no page into memory.

        ::

          %inspect_watch x rows      watch these names, and no others
          %inspect_watch             show the watched names now
          %inspect_watch --memory    what each cell adds to the process, and which
                                     of its lines asked for it; 1 MB or more
          %inspect_watch --off       stop watching
        """
        words = line.split()
        try:
            if words == ["--off"]:
                self.leave()
            elif words == ["--memory"]:
                self._watch_memory()
                return
            elif words:
                self._watch(tuple(dict.fromkeys(words)))
        except InspectorError as error:
            showing.refuse(error, "inspect_watch")
            return
        if self.memory is not None and not words:
            showing.show(self.memory.so_far())
        elif not self.names:
            self._show()

    def leave(self) -> None:
        """Stop watching, and unregister the callback from IPython."""
        if self.names:
            self.shell.events.unregister(EVENT, self._after)
        self.names, self.before = (), None
        if self.memory is not None:
            self.shell.events.unregister(BEFORE, self._cell_begins)
            self.shell.events.unregister(EVENT, self._cell_ended)
            self.memory.close()
            self.memory = None

    def _watch_memory(self) -> None:
        self.leave()
        self.memory = WatchedCells()
        self.shell.events.register(BEFORE, self._cell_begins)
        self.shell.events.register(EVENT, self._cell_ended)
        print("Each cell from here on that adds 1 MB or more is told; %inspect_watch --off ends it.")

    def _cell_begins(self, cell: object = None) -> None:
        """IPython calls this before each cell."""
        if self.memory is not None:
            self.memory.begin(cells.numbers(self.shell))

    def _cell_ended(self, result: Any = None) -> None:
        """And this after it; it never raises."""
        try:
            if self.memory is not None and result is not None:
                label, source = f"In[{result.execution_count}]", str(result.info.raw_cell)
                if report := self.memory.end(label, source):
                    showing.show(report)
        except Exception as error:
            self.leave()
            print(f"inspect_watch was switched off: {type(error).__name__} while inspecting")

    def _watch(self, names: tuple[str, ...]) -> None:
        for name in names:
            if not name.isidentifier():
                raise InspectorError(
                    f"{name!r:.40} is not a name.",
                    slug="not-a-name",
                    why="only names are watched: an expression would run after every cell",
                    do="assign it to a name, or inspect it once: %inspect " + name[:40],
                )
        api.watched(self.shell.user_ns, names, None)  # what cannot be watched is refused now
        self.leave()
        self.names = names
        self.shell.events.register(EVENT, self._after)

    def _after(self, result: object = None) -> None:
        """IPython calls this after each cell; it never raises."""
        try:
            self._show()
        except Exception as error:
            self.leave()
            print(f"inspect_watch was switched off: {type(error).__name__} while inspecting")

    def _show(self) -> None:
        fact, self.before = api.watched(self.shell.user_ns, self.names, self.before)
        showing.show(Report("watch", {"watch": fact}))
