"""The verbs on running programs: breakpoints in this, a launched or another process; stacks; crashes."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.errors import InspectorError, needs_gil
from inspector.facts.crash import Crash
from inspector.facts.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.debugger.forked import Forked
    from inspector.debugger.live import Live
    from inspector.debugger.session import Breakpoints
    from inspector.debugger.watch.writes import WriteWatch
    from inspector.facts.remote import Samples
    from inspector.facts.stack import Hits, Stacks, Stop
    from inspector.report import Report
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

    A place is a function, a C++ function by its base name, file.c:line, a pattern ("PyArray_From*") or a
    prototype ("PyObject *probe(PyObject *x)"), each with an optional " if CONDITION"; `preset` adds places of
    a library. `record`: "full", "stacks", "python", "native", "arguments" or "count". "stacks" and "count" of
    at most four exported functions use hardware breakpoints (perf_event_open(2)): a hit costs about 20 us and
    nothing stops; where the system refuses them, gdb is used. At most `budget` hits are recorded, with
    `depth` native frames. Only the entering thread is watched, unless `all_threads`. `fast` uses gdb's own
    stepping: hits are four times cheaper, but a gdb that is killed meanwhile may crash this process. gdb
    attaches on entry, which stops the process for a moment, and detaches on exit. Raises InspectorError if it
    cannot.
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


def of_program(hits: Hits, program: Sequence[str], folder: str = "", preset: str | None = None) -> Hits:
    """The hits that a program's own code led to.

    Of an R script: without its start, each at the line that led to it; `folder`: that of `launch`, by which
    its statements have times. With the preset "host": without those of Python's own code.
    """
    from inspector.verdicts import own_hits

    if preset == "host" and program:
        return own_hits.of_host(hits, Path(program[0]).name)
    return _of_script(hits, program, folder)


def _of_script(hits: Hits, program: Sequence[str], folder: str) -> Hits:
    from inspector.tracing.record import host_lines
    from inspector.verdicts import own_hits

    ahead = time.time_ns() - time.monotonic_ns()
    over = host_lines.statements(Path(folder)) if folder else []
    ends = [(round(at * 1e9) - ahead, first, last) for at, first, last in over]

    for path in map(Path, program):
        if path.suffix in (".R", ".r") and path.is_file():
            lines = tuple(path.read_text(errors="replace").splitlines())
            return own_hits.of_script(hits, (path.name, lines), ends)
    return own_hits.of_script(hits, ("", ()), ())


def debug(function: Callable[[], None], *places: str) -> Forked:
    """Run `function` in a forked child under gdb that stops at `places` and at crashes and can be stepped.

    A crash does not end this process; changes in the child are lost. Calls between Python and native code are
    recorded there: `last_calls` returns them after a crash. Raises InspectorError fork-unsafe, and the errors
    of attaching.
    """
    import tempfile

    from inspector.debugger.forked import Forked

    needs_gil()
    folder = tempfile.mkdtemp(prefix="inspector-last-")
    return Forked(partial(_recorded, function, folder), places, folder)


def _recorded(function: Callable[[], None], folder: str) -> None:
    """In the child: record into rings in the folder, which survive any end of the child."""
    from inspector.sessions.trace import trace

    with contextlib.suppress(InspectorError):  # the parent process is already traced
        trace(keep=folder).__enter__()
    function()


def guard(on: bool) -> None:
    """Guard this process against a gdb that is killed while it has breakpoints here; calls nest.

    The SIGTRAP handler restores the byte of a left-over breakpoint (native/watch/breakpoint_guard.c).
    Sessions of this process guard it themselves; a kernel is guarded for sessions from outside. Does nothing
    on processors other than x86-64.
    """
    from inspector import _native

    if on:
        _native.traps_arm()
    else:
        _native.traps_disarm()


def step(pid: int, *places: str) -> Live:
    """Attach to another live process and stop it at `places` and at crashes; its other threads run on.

    While a kernel is stopped, its cells wait and its heartbeat still answers. Leaving removes every
    breakpoint and lets the process continue. `.guarded`: whether it would survive a killed gdb; a kernel with
    our magics does. Raises InspectorError if attaching fails.
    """
    from inspector.debugger.live import Live

    return Live(pid, places)


def last_calls(child: Forked, reason: str) -> Crash | None:
    """Return the last calls of a child stopped by `reason`; None if that is no crash or no call is known."""
    from inspector.tracing.ask.last_calls import remains

    if not reason.startswith("SIG"):
        return None
    try:
        left = remains(child.folder)
    except InspectorError:
        return None
    none = Unknown("the child is stopped: its stack is above")
    return Crash(child.pid, none, reason, none, none, none, none, left.last, left.recorded, ())


def stopped(stop: Stop, last: Crash | None = None) -> Report:
    """The report of a stop: why the process would die now, then where it is; `last`: its last calls."""
    from inspector.report import Report
    from inspector.verdicts.crash_words import stop_answers

    answers = stop_answers(stop)
    told = {"answers": answers} if answers.rows else {}
    return Report("stop", {**told, "stop": stop, **({} if last is None else {"crash": last})})


def crashed(*paths: str) -> Report:
    """The report of `crash`: why the process died, its last calls, the stacks."""
    from inspector.report import Report
    from inspector.verdicts.crash_words import crash_answers

    found = crash(*paths)
    answers = crash_answers(found)
    return Report("crash", {**({"answers": answers} if answers.rows else {}), "crash": found})


def launch(
    command: Sequence[str],
    *places: str,
    preset: str | None = None,
    prototypes: Sequence[str] = (),
    quiet: bool = False,
    record_into: str = "",
    folder: str = "",
    **options: Any,
) -> tuple[Hits, int]:
    """Run a program with breakpoints from its start; return (hits, exit code, or -N for signal N).

    `places` as in `breakpoints`; crashes (SIGSEGV, SIGABRT, SIGBUS, SIGFPE) are recorded too. `options`:
    mode, budget, depth. With `quiet` the program's output goes to stderr. `record_into`: folder into which
    its Python records the calls between Python and native code; `crash` reads it. `folder`: into which R
    notes when each statement of its script is over; `of_program` reads it.
    """
    from inspector.debugger.launch import launched
    from inspector.debugger.presets.places import asked
    from inspector.tracing.record.launch import of_r

    environment = _recording(record_into) if record_into else dict(os.environ)
    if folder:
        environment |= of_r(command[0], folder)
    return launched(command, asked(places, preset, prototypes), options, quiet, environment)


def _recording(folder: str) -> dict[str, str]:
    """The environment that makes a program's Python record into a folder from its start."""
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
    """Return the hits of process `pid` within `seconds`, as `breakpoints`, in all its threads."""
    from inspector.debugger.launch import watched
    from inspector.debugger.presets.places import asked

    return watched(pid, asked(places, preset, prototypes, pid), options, seconds)


def stacks(pid: int) -> Stacks:
    """Return the stacks of another process's threads, native and Python frames merged; without gdb.

    Raises InspectorError: pystack-missing, ptrace-forbidden, already-traced, no-stacks; TargetGone:
    no-process.
    """
    from inspector.debugger.stacks import stacks

    return stacks(pid)


def attach(pid: int) -> Visited:
    """Open another live Python: `.inspect(path)`, `.owners(path)`, `.stacks()`, `.waits()`, `.sample(s)` ...

    All but `.trace` only read its memory and run nothing in it. A path is names, attributes and constant
    indexes, as "a.b[0]". The process is stopped while it is read (a few ms; for owners as long as the
    search), except for `sample`. `trace` loads the extension there for `s` seconds, at a safe point. Raises
    InspectorError: ptrace-forbidden, already-traced, not-python; the methods: no-such-path, not-a-path,
    not-stopped; TargetGone: no-process.
    """
    from inspector.sessions.trace_attached import Visited

    return Visited(pid)


def shown(pid: int, expression: str) -> Report:
    """An object of another process: what it is in a sentence, then type, references, value, contents."""
    from inspector.facts.answers import Answers
    from inspector.report import Report
    from inspector.verdicts.answers.remote import answers

    fact = attach(pid).inspect(expression)
    return Report(expression, {"answers": Answers(tuple(answers(fact))), "remote": fact})


def report(fact: Hits | Samples, **others: Any) -> Report:
    """What breakpoints or samples of a process say: a sentence, then the facts; `others` follow."""
    from inspector.facts.answers import Answers
    from inspector.facts.remote import Samples
    from inspector.report import Report
    from inspector.verdicts.answers.hits import of_hits, of_samples

    if isinstance(fact, Samples):
        return Report("samples", {"answers": Answers(tuple(of_samples(fact))), "samples": fact, **others})
    return Report("breaks", {"answers": Answers(tuple(of_hits(fact))), "breaks": fact, **others})


def writes(x: Any, part: str = "bytes", budget: int = 1000) -> WriteWatch:
    """Record each write to the memory of `x` in a block: `with writes(x[3:4]) as found:`, then iterate.

    `part`: "bytes" (of an array, tensor or buffer), "refcount", or ".name", a stored attribute. All threads
    are watched, and those they start. Up to 32 bytes use hardware watchpoints (perf_event_open(2)): nothing
    stops, only a write costs time, about 20 us; `budget` writes are recorded, the rest counted. A wider
    range, up to 256 MiB, uses protected pages (userfaultfd(2), Linux 6.7): a write to one of them costs about
    50 us, any other page fault of a thread about 15; one pass over neighbouring bytes is one record; after
    `budget` records, or 50 times as many stores, the watch ends. A change by the kernel (read(2)) is found at
    the end. Raises InspectorError: too-wide, nothing-to-watch, and on entering writes-refused, watch-running.
    """
    from inspector.debugger.watch.writes import WriteWatch

    needs_gil()
    return WriteWatch(x, part, budget)


def _without_core(left: Remains) -> Crash:
    none = Unknown("no core file was given")
    return Crash(left.pid, none, none, none, none, none, none, left.last, left.recorded, left.sources)


def crash(*paths: str) -> Crash:
    """Return what a dead process left: in a core file, a folder of `trace(keep=FOLDER)`, or both.

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


def serve_editor(port: int) -> None:
    """Serve one editor by the Debug Adapter Protocol, on stdin and stdout or on a port of 127.0.0.1."""
    from inspector.debugger.dap.serving import serve

    serve(port)


def serve_kernel(file: str) -> int:
    """Stand in front of a new ipykernel, by the connection file of a front end; the kernel's exit code."""
    from inspector.debugger.kernel.serving import serve

    return serve(file)


def install_kernel(prefix: str) -> Path:
    """Add the kernel "Python 3 (native debugging)" below a prefix, or to the user's; its folder."""
    from inspector.debugger.kernel import spec

    return spec.installed(prefix)


def remove_kernel(prefix: str) -> Path:
    """Remove what `install_kernel` has added; its folder."""
    from inspector.debugger.kernel import spec

    return spec.removed(prefix)
