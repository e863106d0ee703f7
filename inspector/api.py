"""The public verbs on live objects: each takes one or two objects and returns facts.

Each verb wraps its object in a Subject and deletes its own name for it at once: from then on the tool holds
exactly one reference, and the true count is known. Modules are imported inside the functions, so that a saved
report can be drawn where the C extension is missing.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError, no_plain_dict
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
"""id of an object -> the user's name for it: a namespace, a history, a variable."""
Progress = Callable[[int, int], bool]
"""Called with (bytes done, total bytes) during a scan; returning False stops the scan."""

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
    """Return a Report of all that is cheap to find out about `x`: identity, references, bytes, layout.

    `name`: the title (default: the argument's text). `names`, `known`: id of a namespace, of an object -> the
    user's name. `scan` searches the process's memory, for native owners. `ask` calls the exporters of the
    protocols that `x` supports: this runs library code. `also` adds slow columns: "chain", "retained",
    "aliases". `reveal` shows values under secret names (facts/secret.py). A probe that fails leaves an
    Unknown in its column. Example: `inspect(array, scan=True).refs`.
    """
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    name = name or _typed(_caller()) or "object"
    from inspector.report import Report
    from inspector.verdicts.answers.made import with_answers
    from inspector.verdicts.naming import named

    facts = named(_gathered(subject, names or {}, scan, ask, reveal, progress), known or {})
    if "chain" in also:
        facts["chain"] = _asked("chain", "chain", subject, names or {})
    if "retained" in also:
        facts["retained"] = _asked("retained", "retained", subject)
    if "aliases" in also:
        facts["aliases"] = _asked("aliases", "aliases", subject, known or {})
    report = Report(name, with_answers(name, facts if reveal else _masked(name, facts)))
    return _in_r(report, _caller() is None)


def _in_r(report: Report, is_called_by_r: bool) -> Report:
    """As wide as R's console; with what R had, where reticulate made `x` for the call."""
    if "rpycall" not in sys.modules:  # reticulate's own
        return report
    from inspector.objects.layouts.r_objects import console_width
    from inspector.verdicts.r_objects import with_copy

    if is_called_by_r and type(told := _asked("r_object", "before_conversion")) is tuple:
        report = type(report)(*with_copy(report.name, report.facts, *told))
    return report.drawn(width=width) if (width := console_width()) else report


def _caller() -> FrameType | None:
    """The frame that called a verb; None if a host such as R called it without a Python frame."""
    try:
        return sys._getframe(2)
    except ValueError:
        return None


def _typed(frame: FrameType | None) -> str:
    """The source text of the argument; "" if the source is not available."""
    from inspector.objects.call_site import argument_text

    if frame is None:
        return ""
    try:
        return argument_text(frame, "inspect")
    except Exception:  # without the source there is still a report
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
    facts["buffer"] = _asked("buffer", "buffer", subject, ask=ask, names=names)
    facts["layout"] = _asked("layout", "layout", subject)
    facts["parts"] = _asked("parts", "parts", subject)
    facts["contents"] = _asked("contents", "contents", subject)
    facts["autograd"] = _asked("autograd", "autograd", subject)
    facts["model"] = _asked("model", "model", subject)
    kept = getattr(facts["autograd"], "retained_bytes", None)
    facts["materialization"] = _asked("materialization", "materialization", subject, kept)
    facts["lazy"] = _lazy(subject)
    return {column: fact for column, fact in facts.items() if fact is not None}


def _masked(name: str, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without the values of an object whose own name is a secret one."""
    from inspector.facts.secret import gives_secret
    from inspector.verdicts.masked import masked

    return masked(facts) if gives_secret(name) else facts


def _details(subject: Subject) -> dict[str, Any]:
    """The C structure of a type, module or builtin: the columns `type`, `module`, `builtin` that apply."""
    found = _asked("object", "details", subject)
    return {"type": found} if isinstance(found, Unknown) else found


def _asked(room: str, probe: str, *arguments: Any, **options: Any) -> Any:
    """The probe's fact; if the probe raises, an Unknown with the exception's type, so the report survives.

    The exception's text is left out, because making it may run user code; but for an error of our own.
    """
    try:
        return getattr(importlib.import_module(f"inspector.objects.probes.{room}"), probe)(
            *arguments, **options
        )
    except InspectorError as error:
        return Unknown(error.what)
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
    """Return how far the data of `x` exists: its layers, resident pages, bytes by layer, dangers.

    Nothing is computed or paged in; runs no user code. Bytes are those of this process, from PAGEMAP_SCAN
    (Linux 6.7), /proc/self/pagemap or smaps. A type that no adapter knows has an Unknown state.
    """
    from inspector._native import Subject

    subject = Subject(x)
    del x
    from inspector.objects.probes.materialization import materialization

    return materialization(subject)


def aliases(x: Any, *, names: Names | None = None) -> Aliases:
    """Return all objects that share bytes with `x`, across libraries, by address intervals.

    Searches what containers and running frames refer to. `names`: id of an object -> the user's name.
    """
    from inspector._native import Subject

    subject = Subject(x)
    del x
    from inspector.objects.probes.aliases import aliases

    return aliases(subject, names)


def watched(
    names: Mapping[str, Any], chosen: Collection[str], before: Namespace | None = None
) -> tuple[Watch, Namespace]:
    """Return (changes of the names `chosen` since `before`, the namespace to pass as the next `before`)."""
    from inspector.verdicts.watching import watched

    now = namespace(names, hidden=frozenset(names) - frozenset(chosen), limit=None)
    return watched(tuple(chosen), before, now), now


def findings(x: Any) -> tuple[Finding, ...]:
    """Return the dangers of `x`: borrowed pointer, unowned bytes, freed storage ... (docs/messages.md)."""
    return materialization(x).findings


def refcount(x: Any) -> int | ImmortalType:
    """Return the true reference count of `x`, without the tool's reference and the call's temporaries."""
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
    """Return the owners of `x`, by name; `scan` searches the process's memory, native code included."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.objects.probes.refs import owners

    return owners(subject, names or {}, scan=scan, progress=progress)


def chain(x: Any, *, names: Names | None = None) -> Chain:
    """Return the shortest path of owners from a root (module, frame, IPython namespace) to `x`."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.objects.probes.chain import chain

    return chain(subject, names or {})


def retained(x: Any) -> Retained:
    """Return what only `x` keeps alive: the objects and bytes freed together with it."""
    from inspector._native import Subject
    from inspector.objects.layouts.call_references import leave_out_call

    subject = Subject(x)
    del x
    leave_out_call(subject)
    from inspector.objects.probes.retained import retained

    return retained(subject)


def shares(a: Any, b: Any) -> Sharing:
    """Return whether `a` and `b` share bytes, and which. Example: `shares(x, x[2:]).overlap_bytes`."""
    from inspector._native import Subject

    first, second = Subject(a), Subject(b)
    del a, b
    from inspector.objects.probes.sharing import sharing

    return sharing(first, second)


def compare(
    a: Any, b: Any, *more: Any, names: tuple[str, ...] = (), known: Names | None = None
) -> Comparison:
    """Compare objects, or two saved Reports: who is a view of whom, which bytes they share, what differs.

    `.answers` concludes in sentences. For more than two objects: who shares with whom. `names`: the user's
    names (default: the arguments' texts). `known`: id of an object -> its name (default: those of the
    caller's globals), for owners.
    """
    from inspector.report import Report
    from inspector.verdicts.answers.made import without_answers
    from inspector.verdicts.comparison import compared, live
    from inspector.verdicts.naming import named

    if type(a) is Report and type(b) is Report:
        return compared(a.name, without_answers(a.facts), b.name, without_answers(b.facts))
    from inspector._native import Subject
    from inspector.objects.call_site import argument_texts, names_in

    subjects = tuple(map(Subject, (a, b, *more)))
    del a, b, more
    names = names or argument_texts(_caller(), "compare", len(subjects))
    known = names_in(_caller()) if known is None else known
    facts = [
        named(_masked(name, _gathered(one, {})), known) for name, one in zip(names, subjects, strict=True)
    ]
    return live(names, facts, _asked("pair", "together", names, subjects, facts))


def namespace(
    names: Mapping[str, Any],
    *,
    hidden: Collection[str] = (),
    limit: int | None = 30,
    history: Mapping[str, tuple[Any, str]] | None = None,
    modules: bool = False,
    stops: tuple[Any, ...] = (),
) -> Namespace:
    """Return what each name of a namespace (an exact dict) holds, and which names share bytes.

    At most `limit` names, largest first. Beyond: `history`: "Out[4]" -> (object, what frees it), `modules`.
    """
    if type(names) is not dict:
        raise no_plain_dict("only a plain dict can be inspected as a namespace.", "namespace(dict(names))")
    from inspector.objects.probes.namespace import namespace
    from inspector.verdicts.answers.names import with_answers

    return with_answers(namespace(names, hidden, limit, history, modules, stops))


def adapters_left_out() -> dict[str, str]:
    """Return library -> why its adapter is not used in this process: its self test or its load failed."""
    from inspector.adapters.registry import problems

    return {one.library: one.reason for one in problems()}


def heap(*, retained: int = 0) -> Heap:
    """Return the live objects and their bytes by type; retained bytes for the first `retained` types."""
    from inspector.objects.probes.heap import heap

    return heap(retained)


def listen(terminal: int, patience_s: float) -> bool:
    """Write the progress of census, chain and retained size to this file descriptor; -1: to none.

    The first line comes after `patience_s` seconds. Returns whether anything was written since the last call.
    """
    from inspector import _native

    return _native.walk_listen(terminal, int(patience_s * 1e3))


def snapshot(names: Mapping[str, Any] | None = None) -> Snapshot:
    """Return the heap and a namespace's names now; `snapshot() - earlier` is what changed between."""
    from inspector.objects.probes.heap import snapshot

    return snapshot(names or {})


def doctor() -> Machine:
    """Return what works here: extension, gdb, attach, watchpoints, page residency, symbols, libraries."""
    from inspector.debugger import gdb
    from inspector.facts.machine import Machine
    from inspector.objects.probes.machine import checks

    extension, *others = checks()
    return Machine((extension, gdb.check(), *others))


def compile_c(
    source: str, cache_version: tuple[Any, ...] | None = None, *, name: str = "cell", **more: Any
) -> ModuleType:
    """Compile the C text `source` and return a module of its functions; the build is cached by its key.

    `cache_version` is part of the key; () disables the cache. With `inputs=("x",), outputs=("z",)` the text
    is the body of one function `name` of ndarrays, in which `FAIL;` returns after an exception was set.
    `more`: `support`, `init` and `cleanup` (C text), `libraries`, `library_dirs`, `include_dirs`,
    `compile_args`. The module's `__compiled__` describes the build (facts/compiled.py). C without Python
    objects is called through cffi and releases the GIL. Raises InspectorError `c-does-not-compile` with the
    wrong lines.
    """
    from inspector.sessions.compiler.module import compiled
    from inspector.sessions.compiler.recipe import Recipe

    lists: dict[str, Any] = {
        key: value if isinstance(value, str) else tuple(value) for key, value in more.items()
    }
    module, fact = compiled(Recipe(source, name, cache_version=cache_version, **lists))
    vars(module)["__compiled__"] = fact
    return module
