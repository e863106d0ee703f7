"""The `%%inspect_c` cells of a notebook: which file each one's C is compiled from, and which lines are C."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Final

from inspector.debugger.dap.wire import Message

MAGIC: Final = "%%inspect_c"
BEFORE: Final = 1
"""Lines of a cell before its C."""


class CCells:
    """What was run or given a breakpoint so far: a cell's text, and ipykernel's name of it."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def note(self, code: str, file: str) -> None:
        """Remember a cell, where it is one of C."""
        if code.startswith(MAGIC):
            self.files[code] = file or self.files.get(code, "")

    def text(self, file: str) -> str:
        """The C of the cell that has this name; "" for none."""
        return next((_c(code) for code, name in self.files.items() if name == file), "")

    def show(self, frame: Message) -> None:
        """Let a frame stand in its cell, where its file is the copy that was compiled."""
        path = Path(frame["source"]["path"])
        if path.name != "cell" or not path.is_file():
            return
        text = path.read_text().strip()
        for code, file in self.files.items():
            if file and _c(code).strip() == text:
                frame["source"] = {"name": Path(file).name, "path": file}
                frame["line"] += BEFORE


def _c(code: str) -> str:
    return code.partition("\n")[2]
