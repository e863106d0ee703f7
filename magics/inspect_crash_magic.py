"""`%inspect_crash`: the last calls and the stacks of a kernel or process that died."""

# SPDX-License-Identifier: MIT
import shlex

from inspector.magics import showing
from inspector.magics.options import helped
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from inspector.errors import InspectorError
from inspector.sessions import running


@magics_class
class CrashMagics(Magics):
    """The magic that reads core files and kept traces."""

    shell: InteractiveShell

    @no_var_expand
    @line_magic
    @helped
    def inspect_crash(self, line: str) -> None:
        """Show why a process died: the stacks of a core file, its last calls.

        ::

          %inspect_crash core.4711       a core file: the signal, all stacks
          %inspect_crash FOLDER          records of inspector.trace(keep=FOLDER): the last calls
        """
        try:
            paths = shlex.split(line)
            if not paths:
                raise InspectorError(
                    "no crash was named.",
                    slug="bad-option",
                    why="a core file or a folder is needed",
                    do="%inspect_crash core.4711, or the folder of inspector.trace(keep=FOLDER)",
                )
            report = running.crashed(*paths)
            showing.show(report)
        except InspectorError as error:
            showing.refuse(error, "inspect_crash")
        except ValueError as error:  # of shlex
            showing.refuse(InspectorError(f"{error}.", slug="bad-option"), "inspect_crash")
