"""`%inspect_crash`: after a kernel's death, what it left: its last calls, its stacks."""

from __future__ import annotations

import shlex

from inspector.magics import showing
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from inspector.errors import InspectorError
from inspector.report import Report
from inspector.sessions import running


@magics_class
class CrashMagics(Magics):
    """The magic that reads remains."""

    shell: InteractiveShell

    @no_var_expand
    @line_magic
    def inspect_crash(self, line: str) -> None:
        """Show what a process that died left behind.

        ::

          %inspect_crash core.4711       a core file: of what it died, all stacks
          %inspect_crash FOLDER          where inspector.trace(keep=FOLDER) kept its rings: the last calls
        """
        try:
            paths = shlex.split(line)
            if not paths:
                raise InspectorError(
                    "which crash?",
                    slug="bad-option",
                    why="neither a core file nor a folder was given",
                    do="%inspect_crash core.4711, or the folder of inspector.trace(keep=FOLDER)",
                )
            report = Report("crash", {"crash": running.crash(*paths)})
        except (InspectorError, ValueError) as error:
            showing.refuse(_said(error), "inspect_crash")
            return
        showing.show(report)


def _said(error: InspectorError | ValueError) -> InspectorError:
    """shlex's complaint as one of ours."""
    return error if isinstance(error, InspectorError) else InspectorError(f"{error}.", slug="bad-option")
