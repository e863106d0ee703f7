"""What `inspector.trace(...)` gives: a context manager and decorator, and afterwards the trace as facts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from inspector.errors import InspectorError
from inspector.facts.conversion import Call, Conversion, Copy, Crossing, Loss, Materialized, Seen, Trace
from inspector.facts.hosted import Hosted
from inspector.facts.unknown import Unknown
from inspector.sessions.chosen_modules import names_of
from inspector.tracing.arm.interrupts import Interrupts
from inspector.tracing.arm.refusals import not_live
from inspector.tracing.record import modes
from inspector.tracing.record.modes import Mode

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType, TracebackType

    from inspector.facts.timeline import Timeline
    from inspector.report import Report
    from inspector.tracing.ask.query import Query
    from inspector.tracing.ask.timeline import Clock
    from inspector.tracing.events.decode import Events
    from inspector.tracing.record.recorder import Recorder

NOT_COMPARED = Unknown("values were not compared: copies were left out")
P = ParamSpec("P")
R = TypeVar("R")


class Traced:
    """One trace: `with` it, decorate a function with it; then ask it. Its answers are facts."""

    copies_wanted = True
    out: str | Path | None = None
    """Where the trace is saved when its block ends."""

    def __init__(self, recorder: Recorder | None, events: Events | None = None, name: str = "trace") -> None:
        self._recorder, self._events, self.name = recorder, events, name
        self._query: Query | None = None
        self._fact: Trace | None = None
        self._clock: Clock | None = None
        self._interrupts = Interrupts(Traced.__exit__.__code__)

    def __enter__(self) -> Traced:
        if self._recorder is None:
            raise not_live()
        self._events = self._query = self._fact = self._clock = None
        with self._interrupts.begun():
            self._recorder.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._recorder is None:
            return
        with self._interrupts.over():
            self._events = self._recorder.stop()
            if self._recorder.directory:
                from inspector.tracing.ask.last_calls import take_away

                take_away(self._recorder.directory)
        if self.out is not None:
            self.save(self.out)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """The function, traced at each call; the last call's trace is kept here."""

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
            from inspector.verdicts.copies import copies
            from inspector.verdicts.losses import losses

            query = self._asked()
            events = self._recorded()
            self._fact = Trace(
                calls=query.calls(),
                calls_left_out=query.groups - query.shown,
                copies=copies(query.evidence()) if self.copies_wanted else (),
                losses=losses(query.losses()) if self.copies_wanted else NOT_COMPARED,
                crossings=query.crossings(),
                seen=events.seen,
                events=len(events),
                dropped=events.dropped,
                wall_ns=events.wall_ns,
                grade=events.grade,
                materialized=events.materialized,
                hosted=query.hosted(),
                finalized=query.finalized(),
                released=query.released(),
                calls_skipped=events.skipped,
                counted=events.counted,
            )
        return self._fact

    @property
    def calls(self) -> tuple[Call, ...]:
        """The call tree; calls that are alike are one, counted."""
        return self.fact.calls

    @property
    def conversions(self) -> tuple[Conversion, ...]:
        """The C-API conversions, folded by call."""
        return self._asked().conversions()

    @property
    def copies(self) -> tuple[Copy, ...]:
        """Results in fresh memory that hold an argument's values, the largest first."""
        return tuple(copy for copy in self.fact.copies if copy.verdict == "copied")

    def copies_during(
        self, parts: Mapping[str, Sequence[tuple[int, int, int]]]
    ) -> dict[str, tuple[Copy, ...]]:
        """Copies of parts: name -> its (thread, first, last) in CLOCK_MONOTONIC ns; "": those of no part."""
        from inspector.tracing.ask.query import Query
        from inspector.tracing.events.time_window import during
        from inspector.verdicts.copies import copied

        everything = [interval for intervals in parts.values() for interval in intervals]
        cut = {name: during(self._recorded(), intervals) for name, intervals in parts.items()}
        cut[""] = during(self._recorded(), everything, outside=True)
        return {name: copied(Query(events).evidence()) for name, events in cut.items()}

    def of(self, x: Any) -> tuple[Copy, ...] | Unknown:
        """What became of the bytes that a live object holds: a Copy for each block, by the call that made it.

        Where none did (an index), its memory tells: given during the trace, or there before.
        """
        from inspector.verdicts.copies import verdicts

        return verdicts(self._asked().belonging().of(x))

    @property
    def events(self) -> int:
        """Records kept."""
        return len(self._recorded())

    @property
    def zero_copy(self) -> tuple[Copy, ...]:
        """Results whose bytes are an argument's."""
        return tuple(copy for copy in self.fact.copies if copy.verdict in ("shared", "in place"))

    @property
    def losses(self) -> tuple[Loss, ...] | Unknown:
        """Conversions that changed a value, with the first one before and after; found by comparing."""
        return self.fact.losses

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Per Python line: how often control crossed, and the time that took."""
        return self.fact.crossings

    @property
    def hosted(self) -> Hosted:
        """What a program that embeds Python asked of it, in order; of a launched program."""
        return self.fact.hosted

    @property
    def materialized(self) -> tuple[Materialized, ...]:
        """Data that came to be: lazy vectors, caches, files read; in the order it happened."""
        return self._recorded().materialized

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Per module: how much of it could be hooked."""
        return self.fact.seen

    @property
    def dropped(self) -> int:
        """Records for which there was no room."""
        return self._recorded().dropped

    @property
    def report(self) -> Report:
        """The trace drawn: terminal, HTML, SVG, JSON."""
        from inspector.report import Report

        return Report(self.name, {"trace": self.fact})

    def only(self, *patterns: str, thread: int = 0, least_bytes: int = 0, least_ns: int = 0) -> Trace:
        """The part of the trace that is asked for: functions by name or pattern, a thread, large, slow calls.

        A module's name takes its functions in. `least_bytes` is of a call's largest argument or result.
        """
        from inspector.verdicts.traces import Chosen, chosen

        return chosen(self.fact, Chosen(patterns, thread, least_bytes, least_ns))

    def __sub__(self, earlier: Traced) -> Report:
        """What this trace calls and copies otherwise than an earlier one."""
        from inspector.report import Report
        from inspector.verdicts.traces import difference

        if not isinstance(earlier, Traced):
            return NotImplemented
        return Report("difference", {"trace_difference": difference(earlier.fact, self.fact)})

    def tree(self) -> str:
        """The whole report as text, nothing folded."""
        return self.report.drawn(everything=True).to_text()

    def table(self) -> Mapping[str, Any]:
        """The records as columns: name -> NumPy array, one row a record, with names instead of numbers."""
        from inspector.tracing.events.table import columns

        return columns(self._recorded())

    def timeline(self, begin_ns: int = 0, end_ns: int = 0) -> Timeline:
        """What is seen in a window of time, short events merged and counted; without a window, of all."""
        if self._clock is None:
            from inspector.tracing.ask.timeline import Clock

            self._clock = Clock(self._recorded())
        return self._clock.window(begin_ns, end_ns)

    def save(self, path: str | Path) -> None:
        """Write the trace; `inspector.load(path)` opens it, on any machine. A name in .parquet: Parquet."""
        if str(path).endswith(".parquet"):
            self.to_parquet(path)
            return
        from inspector.tracing.ask.store import save

        save(self._recorded(), path)

    def to_arrow(self) -> Any:
        """All records as a pyarrow.Table, one row a record. Raises InspectorError `no-pyarrow`."""
        from inspector.tracing.ask.arrow import to_arrow

        return to_arrow(self._recorded())

    def stream(self, parts: Mapping[str, Sequence[tuple[int, int, int]]], limit: int) -> tuple[bytes, int]:
        """The last `limit` records as an Arrow IPC stream, and how many earlier ones were left out.

        `parts` as in `copies_during`: the column `part` names the one in which a record's call began.
        Raises InspectorError `no-pyarrow`.
        """
        from inspector.tracing.ask.part_columns import stream

        return stream(self._recorded(), parts, limit)

    def to_parquet(self, path: str | Path) -> None:
        """Write all records as Parquet, for DuckDB and its like; `inspector.load(path)` reads it back whole.

        Raises InspectorError `no-pyarrow`, `unwritable-file`.
        """
        from inspector.tracing.ask.arrow import write

        write(self._recorded(), path)

    def to_perfetto(self, path: str | Path) -> int:
        """Write it for ui.perfetto.dev; how many of the shortest conversions had no room in the file."""
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
            raise InspectorError(
                "the trace is not finished.",
                slug="trace-not-finished",
                why="it is read after its block",
                do="ask it after `with inspector.trace(...) as t:`",
            )
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

    `modules`: "numpy" or the module (with its submodules), "math.gcd", "pandas.*"; none: every imported
    package with an extension module. Afterwards `.copies`, `.zero_copy`, `.losses`, `.calls`, `.crossings`
    and `.conversions` hold the facts, `.dropped` counts lost records.
    `grade`: "count" keeps sums, "record" values, "deep" types and reference counts too. `copies=False` looks
    for no copies. `native` adds the C functions of each conversion and copy (the grade is deep then).
    `pointers` adds calls by pointers that dlsym gave a library.
    `mode`: "ring" keeps the last half million records of each thread; "stream" keeps all, 64 bytes a record,
    in a file beside `out` or where temporary files go; "sample" keeps one of `every` calls from Python.
    `out` saves the trace when the block ends. `keep` is a folder where the last records outlive a crash
    (`inspector crash FOLDER`). `cells` maps file names to numbers of notebook cells. `told` is called with
    records and seconds, first after one second, then twice a second.
    Raises InspectorError `unknown-module`, `trace-running`, `bad-option`.
    Example: `with inspector.trace("numpy") as t: ...`, then `t.copies[0].reason`
    """
    from inspector.tracing.events import decode  # noqa: F401 - NumPy is imported before, not in the trace
    from inspector.tracing.record.recorder import Recorder

    recorder = Recorder(named := names_of(modules), grade, cells or {}, allocations=copies)
    if keep is not None:
        from inspector.tracing.ask.last_calls import keeping

        recorder = keeping(keep, named, grade, cells or {}, copies)
    recorder.told, recorder.pointers = told, pointers
    modes.choose(recorder, mode, every, out, native)
    made = Traced(recorder)
    made.copies_wanted, made.out = copies, out
    return made


def load(path: str | Path) -> Traced | Report:
    """The trace or the report that was saved at `path`.

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
    """What several `Traced.stream` gave as one pyarrow.Table.

    `told(name of a stream, part)` gives the columns for `part`. Raises InspectorError `no-pyarrow`.
    """
    from inspector.tracing.ask.part_columns import joined

    return joined(streams, told)


def write_records(table: Any, path: str | Path) -> None:
    """Write such a table as Parquet. Raises InspectorError `unwritable-file`."""
    from inspector.tracing.ask.part_columns import write

    write(table, path)


def left(folder: Path, pid: int, grade: str = "record") -> Traced:
    """The trace that process `pid` kept in a folder, until it or the process ended."""
    from inspector.tracing.record.folder import read

    return Traced(None, read(folder, pid, grade))


def part(trace: Any, options: Any) -> Report:
    """The report of what the options of arguments.ONLY ask for; of all where they ask for nothing."""
    from inspector.report import Report

    least_ns = round(options.min_us * 1000)
    if not (options.only or options.thread or options.min_bytes or least_ns) or not isinstance(trace, Traced):
        whole: Report = trace.report
        return whole
    fact = trace.only(*options.only, thread=options.thread, least_bytes=options.min_bytes, least_ns=least_ns)
    return Report(trace.name, {"trace": fact})
