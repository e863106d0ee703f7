"""Ask JupyterLab's debugger panel, from a cell: the process in front of ipykernel has the debug session.

The question is a message on iopub that no front end gets to see; the answer is a file in the kernel's folder.
"""

# SPDX-License-Identifier: MIT
import itertools
import json
import os
import time
from pathlib import Path
from typing import Any, Final

from inspector.errors import InspectorError

ASKS: Final = "inspector_panel"
"""The type of the message; kernel/debug_requests.py hears it."""
_FOLDER: Final = "inspector-kernel-"
_ANSWER_S: Final = 60.0
_POLL_S: Final = 0.005
_numbers: Final = itertools.count()
NOTHING: Final[dict[str, Any]] = {"address": 0, "bytes": 0, "letter": "", "label": ""}


def ask(shell: Any, **what: Any) -> list[str]:
    """What the debug session says to `functions` (names) or `watch` (a range): "" for each that is set.

    Raises InspectorError no-panel, gdb-late.
    """
    kernel: Any = getattr(shell, "kernel", None)
    folder = Path(str(getattr(getattr(kernel, "parent", None), "connection_file", ""))).parent
    if not folder.name.startswith(_FOLDER):
        raise InspectorError(
            "this kernel has no debugger of native code.",
            slug="no-panel",
            why="JupyterLab's panel knows native code in the kernel 'Python 3 (native debugging)' only",
            do="inspector kernel install, and choose that kernel for this notebook",
        )
    answer = folder / f"answer-{os.getpid()}-{next(_numbers)}"
    kernel.session.send(
        kernel.iopub_socket, ASKS, {**what, "answer": str(answer)}, parent=kernel.get_parent()
    )
    limit = time.monotonic() + _ANSWER_S
    while not answer.exists():
        if time.monotonic() > limit:
            raise InspectorError("the debugger did not answer.", slug="gdb-late", do="restart the kernel")
        time.sleep(_POLL_S)
    said = json.loads(answer.read_text())
    answer.unlink()
    if "refused" in said:
        raise InspectorError(
            said["refused"], slug="no-panel", do="turn the debugger on: the bug in the toolbar"
        )
    return list(said["rows"])


def range_of(x: Any, part: str, label: str) -> dict[str, Any]:
    """The bytes of an object that `inspector.writes` would watch. Raises InspectorError like that."""
    from inspector.debugger.watch.watched import watched

    found = watched(x, part)
    return {"address": found.address, "bytes": found.bytes, "letter": found.letter, "label": label}


def protect(what: dict[str, Any]) -> str:
    """Protect the pages of a range of more than 32 bytes, in place of one before; "" or why that fails."""
    from inspector.debugger.memory.words import words
    from inspector.debugger.watch.stopping import watch

    narrow = bool(words(what["address"], what["bytes"]))
    return watch(0, 0, "") if narrow else watch(what["address"], what["bytes"], what["letter"])
