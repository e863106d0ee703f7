"""The verb `trace`: a context manager and decorator that afterwards returns the trace as facts."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from inspector.errors import InspectorError
from inspector.facts.conversion import Call, Conversion, Copy, Crossing, Loss, Materialized, Seen, Trace
from inspector.facts.hosted import Hosted
from inspector.facts.statements import Statements
from inspector.facts.unknown import Unknown
from inspector.sessions.chosen_modules import names_of
from inspector.sessions.statements.by_line import Lines
from inspector.sessions.trace_facts import between, finished, left_in, statements, whole
from inspector.tracing.arm.graph_calls import GraphCalls, names_package
from inspector.tracing.arm.interrupts import Interrupts
from inspector.tracing.arm.refusals import not_live
from inspector.tracing.record import modes
from inspector.tracing.record.modes import Mode

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from inspector.facts.timeline import Timeline
    from inspector.report import Report
    from inspector.sessions.statements.watch import StatementWatch
    from inspector.tracing.ask.query import Query
    from inspector.tracing.ask.timeline import Clock
    from inspector.tracing.events.decode import Events
    from inspector.tracing.record.recorder import Recorder

P = ParamSpec("P")
R = TypeVar("R")


class Traced:
    """One trace: a context manager and decorator; afterwards its attributes are facts (else they raise)."""

    by_statement = True  # the names of the user's statements are looked at

    def __init__(self, recorder: Recorder | None, events: Events | None = None, *, name: str = "trace",
                 copies_wanted: bool = True, out: str | Path | None = None) -> None:  # fmt: skip
        self._graphs = GraphCalls(recorder is not None and names_package(recorder.modules, "pytensor"))
        self._recorder, self._events, self.name = recorder, events, name
        self.copies_wanted, self.out = copies_wanted, out
        self._query: Query | None = None
        self._fact: Trace | None = None
        self._statements: Statements | None = None
        self._watch: StatementWatch | None = None
        self._clock: Clock | None = None
        self._interrupts = Interrupts(Traced.__exit__.__code__)

    def __enter__(self) -> Traced:
        if self._recorder is None:
            raise not_live()
        self._events = self._query = self._fact = self._statements = self._clock = None
        from inspector._native import unrecorded
        from inspector.sessions.statements.watch import StatementWatch

        self._watch = StatementWatch()
        wanted = self.by_statement and self._recorder.grade != "count"
        if wanted and names_package(self._recorder.modules, "torch"):
            from inspector.tracing.arm.torch_operators import Operators

            self._recorder.operators = Operators()
        with self._interrupts.begun():
            self._recorder.start()
            if wanted:
                unrecorded(self._watch.begin)
            self._graphs.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._recorder is None:
            return
        with self._interrupts.over():
            self._graphs.end()
            self._events = finished(self._recorder, self._watch, self._graphs.losses())
            if self._recorder.directory:
                from inspector.tracing.ask.last_calls import take_away

                take_away(self._recorder.directory)
        if self.out is not None:
            self.save(self.out)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return `function` wrapped: each call is traced, and this object keeps the last call's trace."""

        @functools.wraps(function)
        def traced(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        traced.__dict__["trace"] = self
        return traced

    @property
    def fact(self) -> Trace:
        """The whole trace as one fact."""
        if self._fact is None:
            self._fact = whole(self._recorded(), self._asked(), self.copies_wanted)
        return self._fact

    @property
    def statements(self) -> Statements:
        """Statements of the user's code that had to do with bytes: what each copied, shared or made."""
        if self._statements is None:
            self._statements = statements(self._recorded(), self._asked(), self.fact)
        return self._statements

    @property
    def lines(self) -> Lines:
        """The statements by file and line: `t.lines["app.py", 12].verdict == "copied"`."""
        return Lines(self.statements)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The call tree; equal calls are merged and counted."""
        return self.fact.calls

    @property
    def conversions(self) -> tuple[Conversion, ...]:
        """The C-API conversions, merged by call."""
        return self._asked().conversions()

    @property
    def copies(self) -> tuple[Copy, ...]:
        """Results in fresh memory that hold an argument's values, the largest first."""
        return tuple(copy for copy in self.fact.copies if copy.verdict == "copied")

    def copies_during(
        self, parts: Mapping[str, Sequence[tuple[int, int, int]]]
    ) -> dict[str, tuple[Copy, ...]]:
        """Copies by part; `parts`: name -> (thread, first, last) in CLOCK_MONOTONIC ns. "": in no part."""
        from inspector.tracing.ask.query import Query
        from inspector.tracing.events.time_window import during
        from inspector.verdicts.copies import copied

        everything = [interval for intervals in parts.values() for interval in intervals]
        cut = {name: during(self._recorded(), intervals) for name, intervals in parts.items()}
        cut[""] = during(self._recorded(), everything, outside=True)
        return {name: copied(Query(events).evidence()) for name, events in cut.items()}

    def of(self, x: Any) -> tuple[Copy, ...] | Unknown:
        """Where the bytes of a live object come from: a Copy for each block, with the call that made it.

        Bytes that no call made (an index) are told apart by their memory: allocated in the trace, or before.
        """
        from inspector.verdicts.copies import verdicts

        return verdicts(self._asked().belonging().of(x))

    @property
    def events(self) -> int:
        """Number of records kept."""
        return len(self._recorded())

    @property
    def zero_copy(self) -> tuple[Copy, ...]:
        """Results that use an argument's bytes."""
        return tuple(copy for copy in self.fact.copies if copy.verdict in ("shared", "in place"))

    @property
    def losses(self) -> tuple[Loss, ...] | Unknown:
        """Conversions that changed values, found by comparing, each with the first value before and after."""
        return self.fact.losses

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Per Python line: calls into native code, and their time in ns."""
        return self.fact.crossings

    @property
    def hosted(self) -> Hosted:
        """The C-API calls of a launched program that embeds Python, in order."""
        return self.fact.hosted

    @property
    def materialized(self) -> tuple[Materialized, ...]:
        """Data that was materialized: lazy vectors, caches, files read; in order of time."""
        return self._recorded().materialized

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Per module: how many of its functions and slots could be hooked."""
        return self.fact.seen

    @property
    def dropped(self) -> int:
        """Number of records dropped because a buffer was full."""
        return self._recorded().dropped

    @property
    def report(self) -> Report:
        """The trace as a Report, for terminal, HTML, SVG, JSON."""
        from inspector.report import Report
        from inspector.verdicts.trace_answers import with_answers

        return Report(self.name, with_answers(self.statements, self.fact, self._graphs.fact()))

    def only(self, *patterns: str, thread: int = 0, least_bytes: int = 0, least_ns: int = 0) -> Trace:
        """Return the part that matches: functions by name or pattern, a thread, large calls, slow calls.

        A module's name matches its functions. `least_bytes` applies to a call's largest argument or result.
        """
        from inspector.verdicts.traces import Chosen, chosen

        return chosen(self.fact, Chosen(patterns, thread, least_bytes, least_ns))

    def __sub__(self, earlier: Traced) -> Report:
        """Return how the calls and copies differ from those of an earlier trace."""
        from inspector.report import Report

        if not isinstance(earlier, Traced):
            return NotImplemented
        return Report("difference", between((earlier.fact, earlier.statements), (self.fact, self.statements)))

    def tree(self) -> str:
        """Return the whole report as text, nothing collapsed."""
        return self.report.drawn(everything=True).to_text()

    def table(self) -> Mapping[str, Any]:
        """Return the records as columns (name -> NumPy array), one row a record, with names for numbers."""
        from inspector.tracing.events.table import columns

        return columns(self._recorded())

    def timeline(self, begin_ns: int = 0, end_ns: int = 0) -> Timeline:
        """Return the events of a time window in ns (default: all), short events merged and counted."""
        if self._clock is None:
            from inspector.tracing.ask.timeline import Clock

            self._clock = Clock(self._recorded())
        return self._clock.window(begin_ns, end_ns)

    def save(self, path: str | Path) -> None:
        """Write the trace for `inspector.load(path)`, on any machine; as Parquet for a path in .parquet."""
        if str(path).endswith(".parquet"):
            self.to_parquet(path)
            return
        from inspector.tracing.ask.store import save

        save(self._recorded(), path)

    def to_arrow(self) -> Any:
        """Return all records as a pyarrow.Table, one row a record. Raises InspectorError `no-pyarrow`."""
        from inspector.tracing.ask.arrow import to_arrow

        return to_arrow(self._recorded())

    def stream(self, parts: Mapping[str, Sequence[tuple[int, int, int]]], limit: int) -> tuple[bytes, int]:
        """Return the last `limit` records as an Arrow IPC stream, and the number of earlier ones left out.

        `parts` as in `copies_during`: the column `part` names the part in which a record's call began.
        Raises InspectorError `no-pyarrow`.
        """
        from inspector.tracing.ask.part_columns import stream

        return stream(self._recorded(), parts, limit)

    def to_parquet(self, path: str | Path) -> None:
        """Write all records as Parquet, for DuckDB and others; `inspector.load(path)` reads it without loss.

        Raises InspectorError `no-pyarrow`, `unwritable-file`.
        """
        from inspector.tracing.ask.arrow import write

        write(self._recorded(), path)

    def to_perfetto(self, path: str | Path) -> int:
        """Write the trace for ui.perfetto.dev; return how many of the shortest conversions were left out."""
        from inspector.tracing.ask.perfetto import write

        return write(self._recorded(), path)

    def __repr__(self) -> str:
        if self._events is None:
            return "<Traced: not finished>"
        return f"<Traced: {len(self._events):,} events, {self._events.dropped:,} dropped>"

    def __str__(self) -> str:
        return str(self.report)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return self.report._repr_mimebundle_(**options)

    def _asked(self) -> Query:
        if self._query is None:
            from inspector.tracing.ask.query import Query

            self._query = Query(self._recorded())
        return self._query

    def _recorded(self) -> Events:
        if self._events is None:
            why = "it can be read only after its block"
            do = "read it after `with inspector.trace(...) as t:`"
            raise InspectorError("the trace is not finished.", slug="trace-not-finished", why=why, do=do)
        return self._events


def trace(
    *modules: str | ModuleType,
    grade: Literal["count", "record", "deep"] = "record",
    copies: bool = True,
    native: bool = False,
    pointers: bool = False,
    mode: Mode = "ring",
    every: int = 10,
    out: str | Path | None = None,
    keep: str | Path | None = None,
    cells: Mapping[str, int] | None = None,
    told: Callable[[int, float], None] | None = None,
) -> Traced:
    """Trace what crosses between Python and native code: a `with` block or a decorated function.

    `modules`: "numpy" or the module (with submodules), "math.gcd", "pandas.*"; none: every imported package
    with an extension module. Afterwards `.copies`, `.zero_copy`, `.losses`, `.calls`, `.crossings` and
    `.conversions` are the facts, `.dropped` the number of lost records. `copies=False` looks for no copies;
    `out`: file to save the trace in when the block ends; `keep`: folder in which the last records survive a
    crash (`inspector crash FOLDER`). `cells`: file name -> number of a notebook cell. `told(records,
    seconds)` is called from a thread of its own, twice a second. `mode`: "ring" keeps the last half million
    records of a thread and adds up calls that repeat; "stream" keeps all, in a file of 64 bytes a record
    beside `out` (else in a temporary file) until they are read; "sample" keeps one of `every` calls from
    Python, with all that it called. `native` adds the C functions of each conversion, and those that
    allocated a copy's memory; it implies grade "deep". `pointers` also hooks calls through function pointers
    that libraries got from dlsym and keep in their data: in the named modules; if none is named (or ctypes or
    cffi is), in libraries that import nothing of Python. Raises unknown-module, trace-running, bad-option.
    """
    from inspector.tracing.events import decode  # noqa: F401 - imports NumPy before the trace begins
    from inspector.tracing.record.recorder import Recorder

    recorder = Recorder(named := names_of(modules), grade, cells or {}, allocations=copies)
    if keep is not None:
        from inspector.tracing.ask.last_calls import keeping

        recorder = keeping(keep, named, grade, cells or {}, copies)
    recorder.told, recorder.pointers = told, pointers
    modes.choose(recorder, mode, every, out, native)
    return Traced(recorder, copies_wanted=copies, out=out)


def load(path: str | Path) -> Traced | Report:
    """Return the trace or the report saved at `path`.

    Raises InspectorError: `unreadable-trace`, `bad-report`, `newer-report`, `unreadable-file`.
    """
    from inspector import report

    try:
        with open(path, "rb") as file:  # noqa: PTH123
            magic = file.read(4)
    except OSError:
        magic = b""
    if magic == b"PAR1":
        from inspector.tracing.ask.arrow import read

        return Traced(None, read(path))
    if magic != b"PK\x03\x04":
        return report.load(path)
    from inspector.tracing.ask.store import load

    return Traced(None, load(path))


def records_of(streams: Iterable[tuple[str, bytes]], told: Callable[[str, str], Mapping[str, str]]) -> Any:
    """Return the results of several `Traced.stream` as one pyarrow.Table.

    `told(name of a stream, part)` returns the columns for `part`. Raises InspectorError `no-pyarrow`.
    """
    from inspector.tracing.ask.part_columns import joined

    return joined(streams, told)


def write_records(table: Any, path: str | Path) -> None:
    """Write the table of `records_of` as Parquet. Raises InspectorError `unwritable-file`."""
    from inspector.tracing.ask.part_columns import write

    write(table, path)


def left(folder: Path, pid: int, grade: str = "record") -> Traced:
    """Return the trace that process `pid` left in a folder; it ends with the trace or the process."""
    return Traced(None, left_in(folder, pid, grade))


def part(trace: Any, options: Any) -> Report:
    """Return the report of what the options of arguments.ONLY select; without them, of the whole trace."""
    from inspector.report import Report

    least_ns = round(options.min_us * 1000)
    if not (options.only or options.thread or options.min_bytes or least_ns) or not isinstance(trace, Traced):
        return cast("Report", trace.report)
    fact = trace.only(*options.only, thread=options.thread, least_bytes=options.min_bytes, least_ns=least_ns)
    return Report(trace.name, {"trace": fact})
