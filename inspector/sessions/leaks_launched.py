"""The verb leaks on a launched program: its own Python opens the ledger, and judges when it ends."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.facts.leaks import Leaks
from inspector.facts.lost import Lost, LostObject
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.sessions import trace_launched

if TYPE_CHECKING:
    from inspector.report import Report

CRASHES: Final = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
"""Signals of a crash in native code."""
NO_PLACE: Final = Unknown("the place of the crash is not known: inspector debug shows it")


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on a program, and how the program ended."""

    fact: Leaks
    code: int
    """Its exit code; -N: signal N."""
    notes: tuple[str, ...]
    """What was not watched, one sentence each."""
    lost: tuple[LostObject, ...] = ()
    """What it lost in cycles that no collection frees."""

    @property
    def report(self) -> Report:
        """The verdicts as a Report."""
        from inspector.sessions.leaks_told import report

        return report("leaks", self.fact)


def launch(command: Sequence[str], *modules: str, children: bool = False, quiet: bool = False) -> Judged:
    """Run `command`, a program that is or embeds Python, under the ledger.

    Its Python opens the ledger at its start, as `trace_launched.launch` begins a trace, and judges when it
    ends, or when the process exits without finalizing it. If no module is named, references that the program
    itself obtains by the C-API are watched too. `children`, `quiet`: as for `trace_launched.launch`. Raises
    InspectorError `no-program`, `no-python`, `python-isolated`, `no-build`, `no-verdicts`, and `leaks`'s.
    """
    folder = Path(tempfile.mkdtemp(prefix="inspector-leaks-"))
    try:
        own = {"begins": __name__, "elftools": _folder("elftools")}
        asked = trace_launched.settings(folder, modules, "ledger", children) | own
        ended, pid = trace_launched.ran(command, asked, quiet)
        if unknown := trace_launched.told(folder, "unknown", pid):
            raise InspectorError(unknown["what"], slug=unknown["slug"], do="name a module that it imports")
        from inspector.sessions.leaks_told import with_words

        wire = trace_launched.told(folder, "leaks", pid)
        fact = from_wire(Leaks, wire) if wire is not None else _without_ledger(command[0], ended.code)
        found = trace_launched.told(folder, "lost", pid)
        lost = from_wire(Lost, found).rows if found is not None else ()
        return Judged(with_words(fact), ended.code, trace_launched.others(folder), lost)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _folder(package: str) -> str:
    spec = find_spec(package)
    return str(Path(spec.origin).parent) if spec is not None and spec.origin else ""


def _without_ledger(program: str, code: int) -> Leaks:
    """The facts for a missing ledger: a crash is a verdict; any other end raises."""
    from inspector.verdicts.crash_words import crash

    name = signal.Signals(-code).name if code < 0 else ""
    if name in CRASHES:
        return Leaks((crash(name, NO_PLACE, "the program", watched=True),), (), 0, 0, 0, 0, 1, 0, 0, 0, 0)
    left = f"left with code {code}, past its exit handlers"
    how = f"was ended by signal {-code} ({name})" if name else left
    raise InspectorError(
        f"{program[:60]} {how}: its ledger is lost.",
        slug="no-verdicts",
        why="counts and owners are judged in the program itself, when its Python or its process ends",
        do="let it end by itself: no kill, os._exit or exec",
    )


def begin(settings: dict[str, Any]) -> None:
    """In the program: keep the ledger open until the end of its Python or of its process."""
    from inspector import _native
    from inspector.ledger import lost as ledger_lost  # noqa: F401
    from inspector.ledger import suspects  # noqa: F401 - imported now, not when the process ends
    from inspector.sessions import leaks_told  # noqa: F401
    from inspector.sessions.leaks import Leaked
    from inspector.sessions.lost import lost_since
    from inspector.verdicts import leaks  # noqa: F401

    _bring("elftools", settings["elftools"])
    modules = tuple(settings["modules"])
    found, pid = Leaked(modules), os.getpid()
    found.hosts, found.late = not modules, True

    def end() -> None:
        height = _native.stack_height() if found.hosts else 0
        _native.at_exit(None)
        if os.getpid() == pid and found.is_open:
            found.end(height)
            _leave(Path(settings["folder"]), *_told(found.fact, modules))  # first: a search may fail
            _leave(Path(settings["folder"]), "lost", to_wire(Lost(lost_since(), 0, 0, 0, 0)))

    found.__enter__()
    atexit.register(end)
    _native.at_exit(end)


def _bring(package: str, folder: str) -> None:
    """Make a pure-Python package importable, unless this Python has it: symbols are read with it."""
    if folder and find_spec(package) is None:
        spec = spec_from_file_location(
            package, Path(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[package] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[package])


def _told(fact: Leaks, modules: tuple[str, ...]) -> tuple[str, Any]:
    """The verdicts, or the error that a module was never imported."""
    from inspector.tracing.arm.targets import Targets

    try:
        Targets(modules, buffers=False).require()
    except InspectorError as error:
        return "unknown", {"what": error.what, "slug": error.slug}
    return "leaks", to_wire(fact)


def _leave(folder: Path, name: str, wire: Any) -> None:
    part = folder / f"{name}.part"
    part.write_text(json.dumps(wire), encoding="utf-8")
    part.replace(folder / f"{name}-{os.getpid()}.json")
