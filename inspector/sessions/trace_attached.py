"""The verb trace on another live process: the extension loaded there at a safe point, and put away again."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from inspector.debugger import preflight
from inspector.debugger.attach.attached import Attached
from inspector.debugger.attach.sampling import check_seconds, opened
from inspector.debugger.attach.visiting import called, doors, forgotten, standing
from inspector.debugger.memory import proc
from inspector.facts.unknown import Unknown
from inspector.sessions.chosen_modules import names_of

if TYPE_CHECKING:
    from types import ModuleType

    from inspector.debugger.attach.visiting import Doors
    from inspector.facts.conversion import Trace
    from inspector.facts.remote import Samples

DEADLINE_S: Final = 2.0
LEAVE_S: Final = 20.0
"""For ending a trace more patience is had than for beginning one."""
_VISIT: Final = Path(__file__).parents[1] / "faces" / "startup" / "visit.py"
_PAUSE_S: Final = 0.02
_SAMPLED_S_MIN: Final = 0.5
_TEXT: Final = """\
try:
    __import__('builtins').exec({text!r}, {{'__name__': 'visit', 'SETTINGS': {said!r}}})
except BaseException:
    pass
"""
"""No name is bound in __main__, and nothing is raised."""


class Visited(Attached):
    """Another live Python: read from outside, and traced from inside where it can be."""

    notes: tuple[str, ...] = ()
    """What the last trace left there, a sentence each; nothing when all went as it should."""

    def trace(
        self, seconds: float, *modules: str | ModuleType, deadline_s: float = DEADLINE_S
    ) -> Trace | Samples:
        """What crosses between Python and native code there for `seconds`, as `inspector.trace` tells it.

        The extension is loaded there once a safe point comes within `deadline_s`: a thread at a system
        call, or Python's own. Where none comes, or the process's Python has no build of ours, its stacks
        are sampled from outside instead, and `Samples.instead` says why. Raises what `sample` raises.
        """
        check_seconds(seconds)
        named = names_of(modules)
        preflight.check_access(self.pid)
        folder = Path(tempfile.mkdtemp(prefix="inspector-visit-"))
        try:
            _give(folder, self.pid)
            return self._traced(folder, seconds, named, deadline_s)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _traced(
        self, folder: Path, seconds: float, modules: Sequence[str], deadline_s: float
    ) -> Trace | Samples:
        from inspector.sessions.trace import left

        there = self._doors()
        why = there.reason if isinstance(there, Unknown) else _begun(there, folder, modules, deadline_s)
        if isinstance(there, Unknown) or why:
            sampled = self.sample(max(seconds, _SAMPLED_S_MIN))
            return replace(sampled, instead=why)
        _until(lambda: not proc.alive(self.pid), seconds)
        self.notes = _ended(there, folder)
        return left(folder, self.pid).fact

    def _doors(self) -> Doors | Unknown:
        memory = opened(self.pid)
        try:
            return doors(self._runtime, memory)
        finally:
            memory.close()


def _give(folder: Path, pid: int) -> None:
    """The folder to the process's user, when we are another one (root)."""
    owner = Path(f"/proc/{pid}").stat()
    if owner.st_uid != folder.stat().st_uid:
        shutil.chown(folder, owner.st_uid, owner.st_gid)


def _begun(there: Doors, folder: Path, modules: Sequence[str], deadline_s: float) -> str:
    """Begin the trace there: "" or why it could not be."""
    from inspector.sessions import trace_launched

    said = _run(there, folder, {"do": "begin", "modules": list(modules)}, deadline_s, "began", "refused")
    if isinstance(said, str):
        return said
    refused = trace_launched.told(folder, "refused", there.pid)
    if refused is None:
        return ""
    if refused["slug"] == "no-build":
        error = trace_launched.no_build(refused)
        return f"{error.what.rstrip('.')}: {error.do}"
    return f"the trace did not begin there: {refused['what']}"


def _ended(there: Doors, folder: Path) -> tuple[str, ...]:
    """End it there, if the process lives; a safe point came once, so it is waited for again."""
    if not proc.alive(there.pid):
        return ("the process ended while it was traced",)
    said = _run(there, folder, {"do": "end"}, LEAVE_S, "ended")
    if said is None or not proc.alive(there.pid):
        return ()
    return (f"the trace is left running there, to end when its first thread next runs Python: {said}",)


def _run(there: Doors, folder: Path, asked: dict[str, Any], deadline_s: float, *ends: str) -> str | None:
    """None when it was run and told one of `ends`; else why not."""
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
        nothing = "what was run there told nothing: its files cannot be read or written there"
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
