"""A session inside another live process, a trace or sampled growth: begun at a safe point, and ended."""

# SPDX-License-Identifier: MIT
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from inspector.debugger import preflight
from inspector.debugger.attach.attached import LOOK_S, Attached
from inspector.debugger.attach.held import held
from inspector.debugger.attach.sampling import check_seconds, opened
from inspector.debugger.attach.visiting import Doors, called, doors, forgotten, standing
from inspector.debugger.memory import proc
from inspector.facts.growth import Growth
from inspector.facts.remote import Samples
from inspector.facts.unknown import Unknown
from inspector.facts.waits import Waits
from inspector.sessions.chosen_modules import names_of
from inspector.sessions.trace import Traced, left

DEADLINE_S: Final = 2.0
LEAVE_S: Final = 20.0
"""Ending a trace may take longer than beginning one."""
_VISIT: Final = Path(__file__).parents[1] / "faces" / "startup" / "visit.py"
_PAUSE_S: Final = 0.02
_SAMPLED_S_MIN: Final = 0.5
_TEXT: Final = """\
try:
    __import__('builtins').exec({text!r}, {{'__name__': 'visit', 'SETTINGS': {said!r}}})
except BaseException:
    pass
"""
"""Binds no name in __main__, and raises nothing."""


class Visited(Attached):
    """Another live Python: read from outside, and traced from inside if possible."""

    notes: tuple[str, ...] = ()
    """What the last trace left in the process, one sentence each; () if nothing."""

    def trace(
        self, seconds: float, *modules: str | ModuleType, deadline_s: float = DEADLINE_S
    ) -> Traced | Samples:
        """Trace that process for `seconds`, as `inspector.trace` does, and return the trace.

        The extension is loaded there if a safe point comes within `deadline_s`: a thread in a system call, or
        Python's own safe point. If none comes, or there is no build for that Python, returns samples of its
        stacks instead, and `Samples.instead` says why. Raises what `sample` raises.
        """
        check_seconds(seconds)
        asked = {"session": "trace_launched", "modules": list(names_of(modules))}
        with _folder(self.pid) as folder:
            if why := self._inside(folder, seconds, asked, deadline_s):
                return replace(self.sample(max(seconds, _SAMPLED_S_MIN)), instead=why)
            return left(folder, self.pid)

    def growth(
        self, seconds: float, *, deadline_s: float = DEADLINE_S, seen: Callable[[], object] = bool
    ) -> Growth | Unknown:
        """What that process grows by within `seconds`, with the lines that ask for it; Unknown: why not.

        The extension is loaded there as for `trace`; `seen` is called again and again meanwhile. Raises
        what `trace` raises.
        """
        from inspector.sessions.growth import visited

        check_seconds(seconds)
        with _folder(self.pid) as folder:
            why = self._inside(folder, seconds, {"session": "growth.visited"}, deadline_s, seen)
            return Unknown(why) if why else visited.left(folder)

    def waits(self) -> Waits:
        """What each thread waits for, and who holds it: the GIL, mutexes, locks, files, processes.

        The process is stopped for some milliseconds. Raises InspectorError: not-stopped, not-read,
        already-traced.
        """
        from inspector.debugger.waiting.waits import waits

        found: Waits = held(self.pid, partial(waits, found=self._runtime), Waits, LOOK_S)
        return found

    def _inside(
        self,
        folder: Path,
        seconds: float,
        asked: dict[str, Any],
        deadline_s: float,
        seen: Callable[[], object] = bool,
    ) -> str:
        """Let a session run there for so long; "" or why it did not begin."""
        there = self._doors()
        if isinstance(there, Unknown):
            return there.reason
        if why := _begun(there, folder, asked, deadline_s):
            return why
        _until(lambda: (seen(), not proc.alive(self.pid))[1], seconds)
        self.notes = _ended(there, folder)
        return ""

    def _doors(self) -> Doors | Unknown:
        memory = opened(self.pid)
        try:
            return doors(self._runtime, memory)
        finally:
            memory.close()


@contextmanager
def _folder(pid: int) -> Iterator[Path]:
    """A folder for what the session writes, which goes afterwards."""
    preflight.check_access(pid)
    folder = Path(tempfile.mkdtemp(prefix="inspector-visit-"))
    try:
        _give(folder, pid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _give(folder: Path, pid: int) -> None:
    """Give the folder to the process's user, if that is not ours (root)."""
    owner = Path(f"/proc/{pid}").stat()
    if owner.st_uid != folder.stat().st_uid:
        shutil.chown(folder, owner.st_uid, owner.st_gid)


def _begun(there: Doors, folder: Path, asked: dict[str, Any], deadline_s: float) -> str:
    """Begin the session there; "" or why that failed."""
    from inspector.sessions import trace_launched

    said = _run(there, folder, {"do": "begin"} | asked, deadline_s, "began", "refused")
    if isinstance(said, str):
        return said
    refused = trace_launched.told(folder, "refused", there.pid)
    if refused is None:
        return ""
    if refused["slug"] == "no-build":
        error = trace_launched.no_build(refused)
        return f"{error.what.rstrip('.')}: {error.do}"
    return f"nothing began there: {refused['what']}"


def _ended(there: Doors, folder: Path) -> tuple[str, ...]:
    """End the session there, if the process lives; wait for a safe point, since one came before."""
    if not proc.alive(there.pid):
        return ("the process ended meanwhile",)
    said = _run(there, folder, {"do": "end"}, LEAVE_S, "ended")
    if said is None or not proc.alive(there.pid):
        return ()
    return (f"it goes on there, and ends when the first thread next runs Python: {said}",)


def _run(there: Doors, folder: Path, asked: dict[str, Any], deadline_s: float, *ends: str) -> str | None:
    """None if it ran and wrote one of the files `ends`; else why not."""
    from inspector.sessions import trace_launched

    settings = trace_launched.settings(folder, (), "record") | {"library": there.library} | asked
    said = called(
        there, _TEXT.format(text=_VISIT.read_text(), said=settings), deadline_s, asked["do"] == "end"
    )
    if not said["called"]:
        return standing(there, said)

    def over() -> bool:
        return any(trace_launched.told(folder, name, there.pid) is not None for name in ends)

    if not said["pending"]:
        nothing = "the code that ran there wrote nothing: it cannot read or write our files"
        return None if over() else nothing
    _until(over, deadline_s)
    done = over()
    if done or asked["do"] == "begin":
        forgotten(there, said, done)
    return None if done else f"its first thread did not come to a safe point within {deadline_s:g} s"


def _until(question: Any, seconds: float) -> None:
    limit = time.monotonic() + seconds
    while not question() and time.monotonic() < limit:
        time.sleep(_PAUSE_S)
