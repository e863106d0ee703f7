"""The verbs on running programs: breakpoints here, in a program launched, in another process; its stacks."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.errors import InspectorError
from inspector.facts.crash import Crash
from inspector.facts.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.debugger.forked import Forked
    from inspector.debugger.live import Live
    from inspector.debugger.session import Breakpoints
    from inspector.debugger.watch.writes import WriteWatch
    from inspector.facts.stack import Hits, Stacks
    from inspector.sessions.trace_attached import Visited
    from inspector.tracing.ask.last_calls import Remains


def breakpoints(
    *places: str,
    preset: str | None = None,
    prototypes: Sequence[str] = (),
    record: str = "full",
    budget: int = 1000,
    depth: int = 40,
    all_threads: bool = False,
    fast: bool = False,
) -> Breakpoints:
    """Record each hit of native functions in a block: `with breakpoints("PyFloat_FromDouble") as found:`.

    Afterwards `found.hits` has arguments and stacks. A place is a function, a C++ function by its base name,
    file.c:line, a pattern ("PyArray_From*") or a prototype ("PyObject *probe(PyObject *x)"), each with
    " if CONDITION". `preset` adds the places of a library. `record` is "full", "stacks", "python", "native",
    "arguments" or "count". With "stacks" or "count" up to four exported functions need no gdb: the processor
    traps, a hit costs some 20 us. At most `budget` hits are recorded, with `depth` native frames. Only the
    thread that enters is watched, unless `all_threads`. `fast` makes hits four times cheaper, but a gdb that
    is killed in the middle may take this process with it. The process stands still while gdb attaches.
    Raises InspectorError where the system refuses.
    """
    from inspector.debugger.session import Breakpoints

    return Breakpoints(
        *places,
        preset=preset,
        prototypes=prototypes,
        record=record,
        budget=budget,
        depth=depth,
        all_threads=all_threads,
        fast=fast,
    )


def debug(function: Callable[[], None], *places: str) -> Forked:
    """Run `function` in a forked child under gdb, stopped at `places` and at crashes, to be stepped.

    This process lives on; what the child changes does not come back. What crosses there between Python and
    native code is recorded: `last_calls` tells it after a crash. Raises InspectorError fork-unsafe, and what
    attaching raises.
    """
    import tempfile

    from inspector.debugger.forked import Forked

    folder = tempfile.mkdtemp(prefix="inspector-last-")
    return Forked(partial(_recorded, function, folder), places, folder)


def _recorded(function: Callable[[], None], folder: str) -> None:
    """In the child: the rings stay in the folder, whatever ends it."""
    from inspector.sessions.trace import trace

    with contextlib.suppress(InspectorError):  # the process that was forked is traced already
        trace(keep=folder).__enter__()
    function()


def guard(on: bool) -> None:
    """Guard this process against a gdb that is killed while it has breakpoints here; nested calls count.

    SIGTRAP of a left-over breakpoint puts the byte back (native/watch/breakpoint_guard.c). Sessions of this process guard it
    themselves; a kernel is guarded for those from outside. Nothing on other processors than x86-64.
    """
    from inspector import _native

    if on:
        _native.traps_arm()
    else:
        _native.traps_disarm()


def step(pid: int, *places: str) -> Live:
    """Another live process, stopped at `places` and at crashes, to be stepped; its other threads run on.

    What it does while it is stopped is its own: a kernel's cells wait, its heartbeat answers. Leaving takes
    every breakpoint away and lets it go on. `.guarded`: whether it would outlive a gdb that is killed, which
    a kernel with our magics does. Raises InspectorError where attaching cannot be.
    """
    from inspector.debugger.live import Live

    return Live(pid, places)


def last_calls(child: Forked, reason: str) -> Crash | None:
    """The last calls of a child that stopped for `reason`; None where that is no crash, or none is known."""
    from inspector.tracing.ask.last_calls import remains

    if not reason.startswith("SIG"):
        return None
    try:
        left = remains(child.folder)
    except InspectorError:
        return None
    none = Unknown("the child is stopped: its stack is above")
    return Crash(child.pid, none, reason, none, none, none, none, left.last, left.recorded, ())


def launch(
    command: Sequence[str],
    *places: str,
    preset: str | None = None,
    prototypes: Sequence[str] = (),
    quiet: bool = False,
    record_into: str = "",
    **options: Any,
) -> tuple[Hits, int]:
    """Run a program with breakpoints from its start: what they collected, and its exit code (-N: signal N).

    The places are those of `breakpoints`; crashes (SIGSEGV, SIGABRT, SIGBUS, SIGFPE) are recorded too.
    `options`: mode, budget, depth. With `quiet` what the program prints goes to stderr. `record_into` is a
    folder into which its Python records what crosses between it and native code, for `crash` to read.
    """
    from inspector.debugger.launch import launched
    from inspector.debugger.presets.places import asked

    environment = _recording(record_into) if record_into else None
    return launched(command, asked(places, preset, prototypes), options, quiet, environment)


def _recording(folder: str) -> dict[str, str]:
    """The environment of a program whose Python records into a folder from its start."""
    from inspector.sessions.trace_launched import FIRST, settings
    from inspector.tracing.record.launch import environment

    return environment(settings(Path(folder), (), "record"), str(FIRST))


def watch(
    pid: int,
    *places: str,
    seconds: float,
    preset: str | None = None,
    prototypes: Sequence[str] = (),
    **options: Any,
) -> Hits:
    """What process `pid` reaches within `seconds`: as `breakpoints`, for all its threads; then it is left."""
    from inspector.debugger.launch import watched
    from inspector.debugger.presets.places import asked

    return watched(pid, asked(places, preset, prototypes, pid), options, seconds)


def stacks(pid: int) -> Stacks:
    """The threads of another process now, native and Python frames in one order; gdb is not needed.

    Raises InspectorError: pystack-missing, ptrace-forbidden, already-traced, no-stacks; TargetGone:
    no-process.
    """
    from inspector.debugger.stacks import stacks

    return stacks(pid)


def attach(pid: int) -> Visited:
    """Another live Python: `.inspect(path)`, `.owners(path)`, `.stacks()`, `.sample(s)`, `.trace(s)`.

    A path is names, attributes and constant indexes: 'app.cache["k"][3]'. All but `trace` read its memory
    from outside; it stands still for some milliseconds, for `sample` not at all. `trace` loads the extension
    there at a safe point. Raises InspectorError ptrace-forbidden, already-traced, not-python; the questions
    raise no-such-path, not-a-path, not-stopped, and TargetGone no-process.
    """
    from inspector.sessions.trace_attached import Visited

    return Visited(pid)


def writes(x: Any, part: str = "bytes", budget: int = 1000) -> WriteWatch:
    """Record each write to the memory of `x` in a block: `with writes(x[3:4]) as found:`, then iterate.

    `part`: "bytes" (of an array, tensor or buffer), "refcount", or ".name" for a stored attribute. Each write
    has the value before and after, the native and the Python stack. All threads are watched. Up to 32 bytes
    the processor watches (perf_event_open(2)): some 20 us a write. A wider range, up to 256 MiB, is watched
    by protected pages (userfaultfd(2), Linux 6.7): some 50 us a write to them, 15 us each other page fault;
    one pass over neighbours is one record. `budget` writes are recorded, the rest is counted; a wide range
    ends after `budget` records or 50 times as many stores. Writes of the operating system (read(2)) are
    noticed at the end. Raises InspectorError too-wide, nothing-to-watch, writes-refused, watch-running.
    """
    from inspector.debugger.watch.writes import WriteWatch

    return WriteWatch(x, part, budget)


def _without_core(left: Remains) -> Crash:
    none = Unknown("no core file was given")
    return Crash(left.pid, none, none, none, none, none, none, left.last, left.recorded, left.sources)


def crash(*paths: str) -> Crash:
    """What a process that died left: a core file, a folder that `trace(keep=FOLDER)` used, or both.

    Raises InspectorError: pystack-missing, bad-core, no-remains, bad-option, unreadable-file.
    """
    from dataclasses import replace

    from inspector.debugger import core_file
    from inspector.tracing.ask.last_calls import remains

    found: Crash | None = None
    for is_folder, path in sorted((not core_file.is_core(path), path) for path in paths):
        if not is_folder:
            found = core_file.read(path)
            continue
        left = remains(path)
        if found is None:
            found = _without_core(left)
        else:
            found = replace(
                found, last=left.last, recorded=left.recorded, sources=(*found.sources, *left.sources)
            )
    if found is None:
        raise InspectorError("which crash?", slug="bad-option", do="inspector crash CORE, or FOLDER")
    return found
