"""What a conversion, or an expression, would copy."""

# SPDX-License-Identifier: MIT
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType
from typing import Any, Final

from inspector.api import materialization
from inspector.errors import InspectorError
from inspector.facts.conversion import Copy
from inspector.facts.preview import Found, Prediction, Preview
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.objects import isolation
from inspector.objects.preview.consumers import Consumer, chosen, function_name, installed, unsafe
from inspector.objects.preview.features import features
from inspector.objects.preview.trying import bounded, part_of, tried
from inspector.objects.quiet_compile import quietly
from inspector.sessions.trace import trace
from inspector.verdicts.rules import ruled

CHILD_S: Final = 30.0
"""For a child in all: it may have to import the library, and it hooks the library's functions."""
MEMORY_BYTES: Final = 4 << 30


def tried_for(x: Any, to: str | tuple[str, ...] | list[str]) -> tuple[Preview, ...]:
    """What converting an object for each of some libraries would do, or for all that are imported."""
    names = chosen((to,) if isinstance(to, str) else tuple(to) or installed())
    why = unsafe()
    return tuple(_one(x, name, consumer, why) for name, consumer in names.items())


def after(x: Any, expression: str, names: Mapping[str, Any]) -> Prediction:
    """Return what evaluating `expression` in a copy of `names` would copy, and whether it materializes `x`.

    It runs traced in a forked child, within 2 s; Unknown where a fork is not safe. Raises InspectorError
    `not-an-expression`.
    """
    why, code = unsafe(), _compiled(expression)
    found = Unknown(why) if why else _forked(lambda: _evaluated(x, code, dict(names)))
    if isinstance(found, Unknown):
        unknown = Unknown(_reason(found.reason))
        return Prediction(expression, unknown, "", "", unknown)
    copies = tuple(from_wire(Copy, copy) for copy in found["copies"])
    return Prediction(expression, copies, found["materializes"], found["fails"], found["wall_ns"])


def _compiled(expression: str) -> CodeType:
    try:
        with quietly():
            return compile(expression.strip(), "<expression>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InspectorError(
            f"{expression.strip()[:60] or 'an empty text'} is not an expression.",
            slug="not-an-expression",
            why=f"{type(error).__name__}: {error}"[:200],
            do='--after takes one expression in quotes: --after "f(x)"',
        ) from None


def _evaluated(x: Any, code: CodeType, names: dict[str, Any]) -> dict[str, Any]:
    """In the child: the copies, and the new state of `x` if it changed, as plain values."""
    before, fails = _state(x), ""
    began = time.monotonic_ns()
    with trace() as traced:
        try:
            bounded(lambda: eval(code, names))
        except Exception as error:
            fails = f"{type(error).__name__}: {error}"[:200]
        wall_ns = time.monotonic_ns() - began
    now = _state(x)
    return {
        "copies": [to_wire(copy) for copy in traced.copies],
        "materializes": now if now != before else "",
        "fails": fails,
        "wall_ns": wall_ns,
    }


def _state(x: Any) -> str:
    state = materialization(x).state
    return "" if isinstance(state, Unknown) else state


def _one(x: Any, name: str, consumer: Consumer, unsafe: str) -> Preview:
    given = features(x)
    is_table = given.is_table and (name != "pyarrow" or given.kind == "DataFrame")
    function = function_name(consumer, is_table)
    if unsafe:
        return _by_rule(x, name, function, unsafe)
    size, library = given.size_bytes, consumer.module.partition(".")[0]

    def try_it() -> Any:
        part, times = part_of(x, size)
        return {**tried(part, consumer, is_table, _state, partial(_traced, library)), "times": times}

    found = _forked(try_it)
    if isinstance(found, Unknown):
        return _by_rule(x, name, function, _reason(found.reason))
    return _preview(name, function, found)


def _forked(function: Callable[[], Any]) -> Any | Unknown:
    """The result of `function` in a forked child; waits a moment for a running thread to end."""
    return isolation.run(function, CHILD_S, MEMORY_BYTES)


def _reason(reason: str) -> str:
    return "it takes longer than 2 s" if "SIGALRM" in reason else reason


def _traced(library: str, call: Callable[[], Any]) -> list[tuple[str, str, int]]:
    """In the child: trace the call; return (reason, how to avoid it, bytes) of each copy."""
    with trace(library) as traced:
        call()
    return [(copy.reason, copy.avoid, copy.copied_bytes) for copy in traced.copies]


def _preview(name: str, function: str, trial: dict[str, Any]) -> Preview:
    found: Found = "tried" if trial["times"] == 1 else "tried on a part"
    if "fails" in trial:
        failed = Unknown("the conversion fails")
        return Preview(name, function, failed, failed, failed, failed, "", trial["fails"], "", True, found)
    copied: int | Unknown = (
        Unknown(trial["unknown"]) if "unknown" in trial else round(trial["copied"] * trial["times"])
    )
    lost = trial["lost"]
    reason, avoid = trial["why"] if copied != 0 else ("", "")
    return Preview(
        consumer=name,
        function=function,
        copies=copied if isinstance(copied, Unknown) else copied > 0,
        copied_bytes=copied,
        loses=Unknown(lost) if isinstance(lost, str) else tuple(lost[1]),
        losses=Unknown(lost) if isinstance(lost, str) else lost[0],
        materializes=trial["materializes"],
        reason=reason,
        avoid=avoid,
        fails=False,
        found=found,
    )


def _by_rule(x: Any, name: str, function: str, why: str) -> Preview:
    return ruled(features(x), name, function, why)
