"""Inside gdb: the symbols of a process's libraries, read before gdb attaches; the process does not notice.

gdb keeps what it has read of a file for as long as something has that file open. So a spare inferior opens
the files, and is removed once the process is attached.
"""

# SPDX-License-Identifier: MIT
import contextlib
import os
from collections.abc import Callable
from typing import Final

import gdb

from inspector.debugger.inside.opened import know_cpp
from inspector.debugger.memory import proc

_LARGE: Final = 64 << 20
"""Bytes of a file from which on its symbols take seconds, and more memory than a guess is worth."""
_OWN, _SPARE = 1, 2


class Ahead:
    """One file at a time, so that requests come in between; `done` is called after the last."""

    def __init__(self, pid: int, done: Callable[[], None]) -> None:
        paths = {code.path for code in proc.code(pid)}
        self._left = sorted(path for path in paths if os.path.isfile(path) and os.path.getsize(path) < _LARGE)  # noqa: PTH113, PTH202
        self._done = done
        know_cpp()
        gdb.execute("add-inferior", to_string=True)
        gdb.post_event(self._read)

    def _read(self) -> None:
        if not self._left:
            self._done()
            return
        gdb.execute(f"inferior {_SPARE}", to_string=True)
        with contextlib.suppress(gdb.error):
            gdb.execute(f"add-symbol-file {self._left.pop()}", to_string=True)
        gdb.execute(f"inferior {_OWN}", to_string=True)
        gdb.post_event(self._read)

    def stop(self) -> None:
        """Read no more: the process is about to be attached."""
        self._left.clear()

    def close(self) -> None:
        """Remove the spare inferior."""
        self.stop()
        gdb.execute(f"remove-inferiors {_SPARE}", to_string=True)
