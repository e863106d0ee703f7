"""The verb `call_c`: one call of compiled C, looked at here, or apart where it may crash; traced if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.facts.compiled import CellArray, CellCall
from inspector.facts.conversion import Trace
from inspector.facts.layout import Layout
from inspector.facts.leaks import Leaks
from inspector.facts.stack import Frame, Stop
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.objects import isolation
from inspector.sessions.compiler import call

if TYPE_CHECKING:
    from inspector.sessions.leaks import Leaked
    from inspector.sessions.trace import Traced

DEADLINE_S: Final = 30.0
"""Of each further child: the trace's, the ledger's, and the one under gdb."""
_PACKAGE: Final = str(Path(__file__).parents[1]) + "/"


def call_c(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    isolate: bool = False,
    trace: bool = False,
    cells: Mapping[str, int] | None = None,
) -> tuple[Any, CellCall, Exception | None]:
    """Call compiled C: (result, a CellCall that says what the call did, its exception or None).

    `arguments` maps names to objects, in parameter order. References to the arguments are counted before and
    after. `isolate` runs it in a forked child: a crash gives an `Unknown` result, `died` says where; arrays
    come back as copies. `trace` runs two more children: one traced, one under `leaks`; the layout of each
    array is added. `cells` maps file names to numbers of notebook cells.
    """
    watched = _watched(function, tuple(arguments.values()), cells) if trace else {}
    error: Exception | None = None
    if isolate:
        result, fact = call.apart(function, arguments)
        if isinstance(result, Unknown) and result.reason.startswith(isolation.DIED):
            fact = replace(fact, died=_death(lambda: function(*arguments.values())))
    else:
        result, fact, error = call.here(function, arguments)
    if trace:
        fact = replace(fact, **watched, arrays=_arrays(arguments, result))
    return result, fact, error


# ----- where it died -----


def _death(function: Callable[[], Any]) -> Stop | Unknown:
    """The stop at which `function` dies, run again in a child under gdb; or why that cannot be said."""
    from inspector.debugger.forked import Forked

    try:
        with closing(Forked(function, ())) as child:
            stop = child.wait(DEADLINE_S).stop
    except InspectorError as error:
        return Unknown(
            f"where is not known: {error.what.rstrip('.')}" + (f" ({error.why})" if error.why else "")
        )
    if stop is None:
        return Unknown("where is not known: run again under gdb it did not die")
    return replace(stop, stack=replace(stop.stack, frames=_without_ours(stop.stack.frames)))


def _without_ours(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """From the first Python frame of this package to the next of the user's, all is plumbing."""
    ours = [frame.kind == "python" and str(frame.line).startswith(_PACKAGE) for frame in frames]
    first = ours.index(True) if True in ours else len(frames)
    beyond = (n for n in range(first, len(frames)) if frames[n].kind == "python" and not ours[n])
    last = next(beyond, len(frames))
    return tuple(
        replace(frame, plumbing=frame.plumbing or first <= n < last) for n, frame in enumerate(frames)
    )


# ----- what it did -----


def _watched(
    function: Callable[..., Any], values: tuple[Any, ...], cells: Mapping[str, int] | None
) -> dict[str, Any]:
    from inspector.sessions.leaks import leaks
    from inspector.sessions.trace import trace

    module = getattr(function, "__self__", None)
    if not isinstance(module, ModuleType):
        not_hooked = Unknown("it has no method table: no call of its module can be hooked")
        return {"trace": not_hooked, "leaks": not_hooked}
    return {
        "trace": _told(Trace, partial(_traced, trace(module.__name__, cells=cells), function, values)),
        "leaks": _told(Leaks, partial(_counted, leaks(module.__name__, cells=cells), function, values)),
    }


def _told(fact: type, function: Callable[[], Any]) -> Any:
    """A fact that a child found, or why there is none."""
    told = isolation.run(lambda: to_wire(function()), DEADLINE_S, call.MEMORY_LIMIT_BYTES)
    return told if isinstance(told, Unknown) else from_wire(fact, told)


def _traced(traced: Traced, function: Callable[..., Any], values: tuple[Any, ...]) -> Trace:
    with traced:
        _kept = _called(function, values)
    return traced.fact


def _counted(counted: Leaked, function: Callable[..., Any], values: tuple[Any, ...]) -> Leaks:
    with counted:
        _kept = _called(function, values)
    return counted.fact


def _called(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """The result, kept by who asks: it is an owner. An exception is told by the call here."""
    try:
        return function(*values)
    except Exception:
        return None


def _arrays(arguments: Mapping[str, Any], result: Any) -> tuple[CellArray, ...]:
    from inspector._native import Subject
    from inspector.objects.probes.layout import layout

    results = result if isinstance(result, tuple) else (result,)
    many = len(results) > 1
    named = [
        *arguments.items(),
        *((f"result[{n}]" if many else "result", one) for n, one in enumerate(results)),
    ]
    found = [(name, layout(Subject(one))) for name, one in named]
    return tuple(CellArray(name, lies) for name, lies in found if isinstance(lies, Layout))
