"""The verb trace on a launched program: its own Python begins the trace; this process reads it afterwards."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from inspector.errors import InspectorError

if TYPE_CHECKING:
    from inspector.sessions.trace import Traced
    from inspector.tracing.record.launch import Ended

FIRST: Final = Path(__file__).parents[1] / "faces" / "startup" / "first"
SEARCH: Final = "/reticulate/config/config.py"
"""The script that reticulate runs in each Python it finds, before it loads one."""
MOST_OTHERS, MOST_WORDS = 3, 60


@dataclass(frozen=True, slots=True)
class Launched:
    """A program's trace, and how the program ended."""

    trace: Traced
    code: int
    """Its exit code; -N: signal N."""
    notes: tuple[str, ...]
    """What was not traced, one sentence each."""


def launch(
    command: Sequence[str],
    *modules: str,
    grade: Literal["count", "record", "deep"] = "record",
    children: bool = False,
    quiet: bool = False,
    mode: Literal["ring", "sample"] = "ring",
    every: int = 10,
    told: Callable[[int, float], None] | None = None,
) -> Launched:
    """Run `command`, a program that is or embeds Python, and return its trace.

    Its Python begins the trace at its start, by our `sitecustomize` before the program's own; Pythons that it
    starts are counted. With `children` they are traced too; if the launched program is no Python, the trace
    is that of the first of them. `quiet`: its output goes to stderr. `told(records, seconds)`, `mode` and
    `every` as in `trace`; mode "stream" is refused. A killed program leaves the records written so far.
    Raises InspectorError `no-program`, `no-python`, `python-isolated`, `no-build`, `bad-option`, and what
    `trace` raises.
    """
    from inspector.tracing.record.modes import recorded_elsewhere

    asked = settings(Path(), modules, grade, children, recorded_elsewhere(mode, every))
    folder = Path(tempfile.mkdtemp(prefix="inspector-trace-"))
    try:
        with _telling(folder, told):
            ended, pid = ran(command, asked | {"folder": str(folder)}, quiet)
        from inspector.sessions.trace import left

        return Launched(left(folder, pid, grade), ended.code, tuple(_notes(folder, pid)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ran(command: Sequence[str], settings: dict[str, Any], quiet: bool) -> tuple[Ended, int]:
    """Run a program whose Python obeys `settings`; return how it ended, and the pid of the traced process.

    Raises InspectorError `no-program`, `no-python`, `python-isolated`, `no-build`, and the error of a refused
    trace.
    """
    from inspector.tracing.record import launch as launching

    ended = launching.run(command, settings, str(FIRST), quiet)
    folder = Path(settings["folder"])
    pid = _first(folder, ended.pid)
    if pid is None:
        raise _refused(folder, ended, command)
    return ended, pid


@contextmanager
def _telling(folder: Path, told: Callable[[int, float], None] | None) -> Iterator[None]:
    """Report the progress of the trace in a folder while it grows."""
    from inspector.tracing.record.folder import recorded
    from inspector.tracing.record.heartbeat import Pulse

    pulse = Pulse(told, lambda: recorded(folder)) if told is not None else None
    if pulse is not None:
        pulse.begin()
    try:
        yield
    finally:
        if pulse is not None:
            pulse.end()


def begin(settings: dict[str, Any]) -> Callable[[], None]:
    """In the traced program: trace until its Python ends or the returned function is called."""
    import atexit

    from inspector.tracing.record.into_folder import Leaving

    leaving = Leaving(
        Path(settings["folder"]), tuple(settings["modules"]), settings["grade"], settings["every"]
    )
    leaving.begin()
    atexit.register(leaving.end)

    def end() -> None:
        leaving.end()
        atexit.unregister(leaving.end)

    return end


def settings(
    folder: Path, modules: Sequence[str], grade: str, children: bool = False, every: int = 1
) -> dict[str, Any]:
    """The settings for the traced program's Python."""
    from importlib.metadata import version

    package = str(Path(__file__).parents[1])
    return {
        "folder": str(folder),
        "modules": list(modules),
        "grade": grade,
        "every": every,
        "children": children,
        "begins": __name__,
        "package": package,
        "version": version("native-inspector"),
    }


def told(folder: Path, name: str, pid: int | str) -> dict[str, Any] | None:
    """The JSON that a process wrote into a folder under a name ("began", "refused", "ended"); or None."""
    path = folder / f"{name}-{pid}.json"
    found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
    return found


def _first(folder: Path, pid: int) -> int | None:
    """The pid of the trace to return: the launched process, else the first that began; or None."""
    began = sorted(folder.glob("began-*.json"), key=lambda path: path.stat().st_mtime_ns)
    pids = [int(path.stem.rpartition("-")[2]) for path in began]
    return pid if pid in pids else next(iter(pids), None)


def _refused(folder: Path, ended: Any, command: Sequence[str]) -> InspectorError:
    refused = told(folder, "refused", ended.pid)
    if refused is None:
        return _no_python(command[0], ended.python_seen, len(list(folder.glob("other-*.json"))))
    if refused["slug"] == "no-build":
        return no_build(refused)
    return InspectorError(
        f"the trace did not begin: {refused['what']}", slug=refused["slug"], do="correct it and run again"
    )


def _no_python(program: str, seen: bool, others: int) -> InspectorError:
    if seen:
        return InspectorError(
            f"the Python in {program[:60]} did not read its start-up files.",
            slug="python-isolated",
            why="it was isolated (-I, -E, -S, or PyConfig's isolated, use_environment or site_import)",
            do="start it without that, or begin the trace in its code: inspector.trace()",
        )
    why = (
        f"programs that it started did: {others}" if others else "no libpython was loaded, and it holds none"
    )
    return InspectorError(
        f"{program[:60]} ran no Python.",
        slug="no-python",
        why=why,
        do="trace what it starts: --children" if others else "give a program that is or embeds Python",
    )


def no_build(said: dict[str, Any]) -> InspectorError:
    """The error for a Python for which we have no build."""
    version, where = said["version"], said["executable"] or said["prefix"]
    return InspectorError(
        f"the program's Python is {version} ({where}), for which there is no build of inspector here.",
        slug="no-build",
        why="the extension is built for one version of CPython",
        do=f"{where} -m pip install native-inspector" if said["executable"] else f"install it in {where}",
    )


def others(folder: Path) -> tuple[str, ...]:
    """One sentence on Pythons that were not watched, if any; reticulate's search for a Python is none."""
    every = [json.loads(path.read_text())["ran"] for path in sorted(folder.glob("other-*.json"))]
    ran = [words for words in every if not words.endswith(SEARCH)]
    names = "; ".join(" ".join(words.split())[:MOST_WORDS] for words in dict.fromkeys(ran[:MOST_OTHERS]))
    said = f"Pythons that it started and that were not watched: {len(ran)} ({names})"
    return (said,) if ran else ()


def _notes(folder: Path, pid: int) -> list[str]:
    from inspector.tracing.record.folder import forked

    found = list(others(folder))
    if count := forked(folder, pid):
        found.append(f"its other processes that recorded too and are not shown: {count}")
    return found
