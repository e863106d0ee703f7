"""The verb `call_c`: one inspected call of compiled C, here or in a forked child; traced on request."""

# SPDX-License-Identifier: MIT
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
"""For each further child: that of the trace, of the ledger, and the one under gdb."""
_PACKAGE: Final = str(Path(__file__).parents[1]) + "/"


def call_c(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    isolate: bool = False,
    trace: bool = False,
    cells: Mapping[str, int] | None = None,
) -> tuple[Any, CellCall, Exception | None]:
    """Return (result, what the call did, its exception or None). `arguments`: name -> object, in order.

    With `isolate` it runs in a forked child: after a crash the result is `Unknown`, `died` is the place of
    the crash (from a second run, under gdb), and arrays come back as copies. Without it, the arguments'
    reference counts are compared before and after. `trace` runs it in two more children, for its C-API calls
    and for the ledger of its references, and adds the layout of each array. `cells`: file name -> notebook
    cell number. Example: `result, fact, error = call_c(module.scale, {"x": x, "factor": 2.0})`.
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


def _death(function: Callable[[], Any]) -> Stop | Unknown:
    """Where `function` dies, run again in a child under gdb; or why that is not known."""
    from inspector.debugger.forked import Forked

    try:
        with closing(Forked(function, ())) as child:
            stop = child.wait(DEADLINE_S).stop
    except InspectorError as error:
        return Unknown(
            f"the place is not known: {error.what.rstrip('.')}" + (f" ({error.why})" if error.why else "")
        )
    if stop is None:
        return Unknown("the place is not known: it did not crash when run again under gdb")
    return replace(stop, stack=replace(stop.stack, frames=_without_ours(stop.stack.frames)))


def _without_ours(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Mark as plumbing: from the first Python frame of this package to the user's next Python frame."""
    ours = [frame.kind == "python" and str(frame.line).startswith(_PACKAGE) for frame in frames]
    first = ours.index(True) if True in ours else len(frames)
    beyond = (n for n in range(first, len(frames)) if frames[n].kind == "python" and not ours[n])
    last = next(beyond, len(frames))
    return tuple(
        replace(frame, plumbing=frame.plumbing or first <= n < last) for n, frame in enumerate(frames)
    )


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
        "trace": _in_child(Trace, partial(_fact_of, trace(module.__name__, cells=cells), function, values)),
        "leaks": _in_child(Leaks, partial(_fact_of, leaks(module.__name__, cells=cells), function, values)),
    }


def _in_child(fact: type, function: Callable[[], Any]) -> Any:
    """The fact that a forked child found, or why there is none."""
    wire = isolation.run(lambda: to_wire(function()), DEADLINE_S, call.MEMORY_LIMIT_BYTES)
    return wire if isinstance(wire, Unknown) else from_wire(fact, wire)


def _fact_of(block: Traced | Leaked, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    with block:
        _kept = _called(function, values)
    return block.fact


def _called(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """The result, or None after an exception. The caller keeps it: it counts as an owner."""
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
