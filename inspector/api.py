"""The verbs: a live object or two go in, facts come out. The only place where probes and reports meet.

Each verb puts its object into a Subject and deletes its own name for it at once: from then on the tool holds
exactly one reference, and the true count is known. Rooms are imported inside the functions, so that a saved
report draws where the extension is missing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.facts.unknown import Immortal, ImmortalType, Unknown

if TYPE_CHECKING:
    from types import FrameType, ModuleType

    from inspector._native import Subject
    from inspector.facts.aliases import Aliases
    from inspector.facts.chain import Chain
    from inspector.facts.comparison import Comparison
    from inspector.facts.finding import Finding
    from inspector.facts.heap import Heap, Snapshot
    from inspector.facts.machine import Machine
    from inspector.facts.materialization import Materialization
    from inspector.facts.namespace import Namespace
    from inspector.facts.refs import Owners, Retained
    from inspector.facts.sharing import Sharing
    from inspector.facts.watch import Watch
    from inspector.report import Report

Names = Mapping[int, str]
"""id of an object -> how the user knows it: a namespace, a history, a variable."""
Progress = Callable[[int, int], bool]
"""Told (bytes done, bytes in all) during a scan; False stops it."""

FAILED: Final = "the probe failed with"


def inspect(
    x: Any,
    *,
    name: str = "",
    names: Names | None = None,
    known: Names | None = None,
    scan: bool = False,
    ask: bool = False,
    also: tuple[str, ...] = (),
    reveal: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Everything known about `x` at little cost, as a Report: identity, references, bytes, layout, state.

    `name` heads the report. `names` and `known` map ids to what the user calls namespaces and objects.
    `scan` searches memory, so that owners in native code are named. `ask` calls the exporters of the
    protocols that `x` offers, which is library code. `also` adds "chain", "retained" or "aliases". `reveal`
    shows values under secret names. A probe that fails leaves an Unknown in its column.
    Example: `inspector.inspect(x).refs.references`
    """
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.report import Report

    name = name or _typed(_caller()) or "object"
    from inspector.verdicts.naming import named

    facts = named(_gathered(subject, names or {}, scan, ask, reveal, progress), known or {})
    if "chain" in also:
        facts["chain"] = _asked("chain", "chain", subject, names or {})
    if "retained" in also:
        facts["retained"] = _asked("retained", "retained", subject)
    if "aliases" in also:
        facts["aliases"] = _asked("aliases", "aliases", subject, known or {})
    report = Report(name, facts if reveal else _masked(name, facts))
    return report.drawn(width=width) if (width := _console_width()) else report


def _console_width() -> int:
    """Cells of a line at R's prompt; 0 where no R shows what is given."""
    from inspector.objects.ownership.r_holders import is_embedded

    if not is_embedded():
        return 0
    from inspector.objects.layouts.r_objects import console_width

    return console_width()


def _caller() -> FrameType | None:
    """The frame that called a verb; None where R or another host called it, with no Python above."""
    try:
        return sys._getframe(2)
    except ValueError:
        return None


def _typed(frame: FrameType | None) -> str:
    """What the user typed as the argument; "" where the source cannot tell."""
    from inspector.objects.call_site import argument_text

    if frame is None:
        return ""
    try:
        return argument_text(frame, "inspect")
    except Exception:  # a source that its loader cannot give is no reason to give no report
        return ""


def _gathered(
    subject: Subject,
    names: Names,
    scan: bool = False,
    ask: bool = False,
    reveal: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Column -> fact, for the cheap columns that apply."""
    facts = {"object": _asked("object", "object_", subject, reveal=reveal), **_details(subject)}
    facts["refs"] = _asked("refs", "refs", subject, names, scan=scan, progress=progress)
    facts["buffer"] = _asked("buffer", "buffer", subject, ask=ask)
    facts["layout"] = _asked("layout", "layout", subject)
    facts["parts"] = _asked("parts", "parts", subject)
    facts["materialization"] = _asked("materialization", "materialization", subject)
    facts["lazy"] = _lazy(subject)
    return {column: fact for column, fact in facts.items() if fact is not None}


def _masked(name: str, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without the values of an object whose own name is a secret one."""
    from inspector.facts.secret import gives_secret
    from inspector.verdicts.masked import masked

    return masked(facts) if gives_secret(name) else facts


def _details(subject: Subject) -> dict[str, Any]:
    """What a type, a module or a builtin is made of: `type`, `module`, `builtin`, as far as they apply."""
    found = _asked("object", "details", subject)
    return {"type": found} if isinstance(found, Unknown) else found


def _asked(room: str, probe: str, *arguments: Any, **options: Any) -> Any:
    """What a probe says; if it fails, an Unknown with the kind of failure: the card never dies of a column.

    The exception's text is left out: it may be user code.
    """
    try:
        return getattr(importlib.import_module(f"inspector.objects.probes.{room}"), probe)(
            *arguments, **options
        )
    except Exception as error:
        return Unknown(f"{FAILED} {type(error).__name__}")


def _lazy(subject: Subject) -> Any:
    """The column of a lazy vector; None for any other object."""
    from inspector._native import LazyVector
    from inspector.objects.classes import type_bases

    if not any(base is LazyVector for base in type_bases(type(subject.get()))):
        return None
    from inspector.lazy.describe import lazy

    return lazy(subject)


def materialization(x: Any) -> Materialization:
    """Whether the data of `x` exists: its layers, the pages in memory, bytes that add up, dangers.

    Nothing is computed or read, and no user code runs. Bytes are those of this process, by PAGEMAP_SCAN
    (Linux 6.7), /proc/self/pagemap or smaps. The state of a type that no adapter knows is Unknown.
    Example: `materialization(x).state`
    """
    from inspector._native import Subject

    subject = Subject(x)
    del x
    from inspector.objects.probes.materialization import materialization

    return materialization(subject)


def aliases(x: Any, *, names: Names | None = None) -> Aliases:
    """All objects that have bytes in common with `x`, of any library, by their addresses.

    What containers and running frames refer to is compared; `names` maps ids to what the user calls objects.
    Example: `aliases(x).rows`
    """
    from inspector._native import Subject

    subject = Subject(x)
    del x
    from inspector.objects.probes.aliases import aliases

    return aliases(subject, names)


def watched(
    names: Mapping[str, Any], chosen: Collection[str], before: Namespace | None = None
) -> tuple[Watch, Namespace]:
    """The names `chosen` of a namespace and what changed since `before`; and the next `before`."""
    from inspector.verdicts.watching import watched

    now = namespace(names, hidden=frozenset(names) - frozenset(chosen), limit=None)
    return watched(tuple(chosen), before, now), now


def findings(x: Any) -> tuple[Finding, ...]:
    """The dangers of `x`, each with a slug of docs/messages.md: `findings(x)[0].what`."""
    return materialization(x).findings


def refcount(x: Any) -> int | ImmortalType:
    """The true reference count of `x`, without the references of this call: `refcount(x)`; or Immortal."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    count = subject.refcount()
    return Immortal if count is None else count


def owners(
    x: Any, scan: bool = False, *, names: Names | None = None, progress: Progress | None = None
) -> Owners:
    """Who holds `x`, by name: `owners(x, scan=True)` searches memory too, native code included."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.objects.probes.refs import owners

    return owners(subject, names or {}, scan=scan, progress=progress)


def chain(x: Any, *, names: Names | None = None) -> Chain:
    """The shortest path of owners from a root (module, frame, IPython's names) to `x`: `print(chain(x))`."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.objects.probes.chain import chain

    return chain(subject, names or {})


def retained(x: Any) -> Retained:
    """The objects and bytes that would be freed together with `x`: `retained(x).retained_bytes`."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.objects.probes.retained import retained

    return retained(subject)


def shares(a: Any, b: Any) -> Sharing:
    """Which bytes `a` and `b` have in common, proved by address, or unknown: `shares(a, a[::2])`."""
    from inspector._native import Subject

    first, second = Subject(a), Subject(b)
    del a, b
    from inspector.objects.probes.sharing import sharing

    return sharing(first, second)


def compare(a: Any, b: Any, *, names: tuple[str, str] = ("a", "b")) -> Comparison:
    """How two objects, or two saved Reports, differ, and what they share: `compare(a, b).changes`."""
    from inspector.report import Report
    from inspector.verdicts.comparison import compared

    if type(a) is Report and type(b) is Report:
        return compared(a.name, a.facts, b.name, b.facts)
    from inspector._native import Subject

    first, second = Subject(a), Subject(b)
    del a, b
    return _compared_live(first, second, names)


def _compared_live(first: Subject, second: Subject, names: tuple[str, str]) -> Comparison:
    """The comparison of two live objects: their cheap columns, and the bytes they share."""
    from inspector.facts.sharing import Sharing
    from inspector.verdicts.comparison import compared

    left, right = (
        _masked(name, _gathered(one, {})) for name, one in zip(names, (first, second), strict=True)
    )
    sharing = _asked("sharing", "sharing", first, second)
    if isinstance(sharing, Unknown):
        sharing = Sharing(sharing, sharing, ())
    same = first.address == second.address
    return compared(names[0], left, names[1], right, sharing, same)


def namespace(names: Mapping[str, Any], *, hidden: Collection[str] = (), limit: int | None = 30) -> Namespace:
    """The names of a namespace (an exact dict): what each holds, and which of them share bytes.

    At most `limit` names, the heaviest, modules and functions not among them; None: all. `hidden` ones are
    left out. Runs no user code.
    """
    from inspector.objects.probes.namespace import namespace

    if type(names) is not dict:
        raise InspectorError(
            "only a plain dict can be looked at as a namespace.",
            slug="not-a-namespace",
            why="any other mapping is read by its own code",
            do="namespace(dict(names))",
        )
    return namespace(names, hidden=hidden, limit=limit)


def adapters_left_out() -> dict[str, str]:
    """Library -> why its adapter is not used in this process: its self test failed, or it did not load."""
    from inspector.adapters.registry import problems

    return {one.library: one.reason for one in problems()}


def heap(*, retained: int = 0) -> Heap:
    """The live objects by type: `heap(retained=5)` adds what each of the first five types retains."""
    from inspector.objects.probes.heap import heap

    return heap(retained)


def listen(terminal: int, patience_s: float) -> bool:
    """Census, chain and retained size say on this file descriptor how far they are; -1: nowhere.

    From `patience_s` on. Gives whether anything was said since the last call.
    """
    from inspector import _native

    return _native.walk_listen(terminal, int(patience_s * 1e3))


def snapshot(names: Mapping[str, Any] | None = None) -> Snapshot:
    """The heap and a namespace's names now: `snapshot(globals()) - earlier` is what changed."""
    from inspector.objects.probes.heap import snapshot

    return snapshot(names or {})


def doctor() -> Machine:
    """What works on this machine: extension, gdb, attach, watchpoints, page residency, symbols, libraries."""
    from inspector.debugger import gdb
    from inspector.facts.machine import Machine
    from inspector.objects.probes.machine import checks

    extension, *others = checks()
    return Machine((extension, gdb.check(), *others))


def compile_c(
    source: str, cache_version: tuple[Any, ...] | None = None, *, name: str = "cell", **more: Any
) -> ModuleType:
    """A module of the functions that the C text `source` defines; compiled once, then taken from the cache.

    `cache_version` is part of the cache's key; () is never kept. With `inputs=("x",), outputs=("z",)` the
    text is the body of one function `name` of ndarrays; `FAIL;` leaves it after an exception was set. `more`:
    `support`, `init`, `cleanup` (C text), `libraries`, `library_dirs`, `include_dirs`, `compile_args`. The
    module's `__compiled__` says how it was built. C without Python objects is called through cffi, without
    the GIL. Raises InspectorError `c-does-not-compile` with the wrong lines.
    """
    from inspector.sessions.compiler.module import compiled
    from inspector.sessions.compiler.recipe import Recipe

    lists: dict[str, Any] = {
        key: value if isinstance(value, str) else tuple(value) for key, value in more.items()
    }
    module, fact = compiled(Recipe(source, name, cache_version=cache_version, **lists))
    vars(module)["__compiled__"] = fact
    return module
