"""What a person at an editor waits for: the first stop, a stack with variables, a step, a step into C."""

# SPDX-License-Identifier: MIT
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import best, row, seconds

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "debugger"), str(HERE.parent / "specimens")]

import specimens  # noqa: E402
from dap_client import Editor, Message  # noqa: E402
from editor_peers.programs import TOTAL  # noqa: E402

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import benched
values = [1.0] * 50
for _ in range(20):
    benched.total(values)
    np.dot(np.ones(3), np.ones(3))
"""
CALL = 8
READS_S = 2.0
"""A person looks at the first stop for so long."""


def main() -> None:
    library = specimens.library("benched", TOTAL, flags=("-O0",))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        given: dict[str, Any] = {"program": str(program), "args": [str(library.parent)]}
        given |= {"source": {str(program): [CALL]}, "console": "internalConsole"}
        begun(given)  # bytecode and pages of the first launch
        alone, ours = begun(given, "debugpy.adapter"), begun(given)
        what = "launch to the first stop in Python"
        row(what, ours[0], sizes="a script that imports NumPy", against="debugpy", theirs=alone[0])
        row("stack, scopes and variables there", ours[1], against="debugpy", theirs=alone[1])
        begun(given, further=measured)


def begun(
    given: dict[str, Any], *adapter: str, further: Callable[[Editor, int], None] | None = None
) -> tuple[float, float]:
    """Seconds to the first stop, and to look at it."""
    stopped: list[Message] = []
    with Editor(*adapter) as editor:

        def begin() -> None:
            editor.begun("launch", **given)
            stopped.append(editor.event("stopped"))

        to_stop, thread = seconds(begin), stopped[0]["threadId"]
        to_look = best(lambda: look(editor, thread), 5)
        if further is not None:
            further(editor, thread)
        editor.ask("disconnect", terminateDebuggee=True)
    return to_stop, to_look


def look(editor: Editor, thread: int) -> None:
    editor.locals(editor.stack(thread)[0])


def measured(editor: Editor, thread: int) -> None:
    """The rows of one session, which stands at the call of C."""

    def step(command: str) -> Callable[[], None]:
        return lambda: (editor.ask(command, threadId=thread), editor.event("stopped"), None)[-1]

    time.sleep(READS_S)
    row(
        "first step from Python into C", seconds(step("stepIn")), sizes="NumPy loaded; gdb attaches", bar=0.15
    )
    row("stack, scopes and variables at a stop in C", best(lambda: look(editor, thread), 5))
    row("step over a line of C", best(step("next"), 3))
    step("stepOut")()
    row("step from a returned C call to the next line of Python", seconds(step("next")))
    row("step into np.dot", seconds(step("stepIn")), sizes="no debug information: arguments decoded")


if __name__ == "__main__":
    main()
