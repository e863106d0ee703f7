"""Call the operations of a library, each in a forked child with a deadline."""

# SPDX-License-Identifier: MIT
import contextlib
import importlib
import importlib.metadata
import linecache
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.facts.catalogue import Case, Catalogue, Did
from inspector.facts.statements import Statement
from inspector.facts.unknown import Unknown
from inspector.objects import isolation
from inspector.sessions.catalogue.arguments import with_options
from inspector.sessions.catalogue.guard import guard
from inspector.sessions.catalogue.kinds import Library, library
from inspector.sessions.catalogue.operations import Operation, operations, words

DEADLINE_S: Final = 20.0
"""For some operations together."""
ALONE_S: Final = 5.0
"""For one operation with one kind of argument."""
MEMORY_BYTES: Final = 4 << 30
FORMS: Final = 2
"""Calls with different arguments that are kept of one operation and kind."""
WITH_OPTIONS: Final = 3
"""Kinds that operations are called with options on, the first ones."""
LOST: Final = 2
"""So many kinds that end the child, or take too long: the operation's others are not called."""
BATCH: Final = 8
"""Operations of one child."""
Row = tuple[str, str, str, str, str, float]
"""(operation, kind, call, did, traced, made)."""
Piece = tuple[Operation, tuple[str, str]]
"""An operation and one kind of its argument."""


def run(
    name: str, only: Collection[str] = (), told: Callable[[int, int], Any] = lambda done, all: None
) -> Catalogue:
    """The catalogue of a library, or of those of its operations that are named, or whose type is."""
    of = library(name)
    names = _words(of, name)
    chosen = [
        one
        for one in operations(of, names)
        if not only or one.name in only or one.name.rpartition(".")[0] in only
    ]
    if not chosen:
        said = ", ".join(only)
        raise InspectorError(f"{name} has no operation {said!r:.60}.", slug="no-such-operation")
    cases: list[Case] = []
    lost: list[tuple[str, str]] = []
    _warm(name)
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(chosen), BATCH):
            batch = chosen[first : first + BATCH]
            cases += map(_case, _called(batch, names, name, folder, lost))
            told(first + len(batch), len(chosen))
    return Catalogue(name, version(name), len({one.operation for one in cases}), tuple(cases), tuple(lost))


def version(name: str) -> str:
    """Of a library as it is installed."""
    if name == "builtins":
        return sys.version.split()[0]
    found = getattr(importlib.import_module(name.partition(".")[0]), "__version__", "")
    return str(found)


def _words(of: Library, name: str) -> dict[str, Any]:
    try:
        return words(of, name)
    except ImportError as error:
        raise InspectorError(
            f"{name} cannot be imported.", slug="no-such-library", why=str(error)[:200]
        ) from None


def _warm(name: str) -> None:
    """One trace, so that the children find every function's hook made, and our modules imported."""
    import numpy as np

    from inspector.sessions.catalogue import truth  # noqa: F401

    _traced([("np.arange(9)", "np.sort(x)", True)], {"np": np}, name)


def _trace(name: str) -> Any:
    from inspector.sessions.trace import trace

    return trace("numpy") if name == "builtins" else trace("numpy", name.partition(".")[0])


def _called(
    batch: Sequence[Operation], names: dict[str, Any], name: str, folder: str, lost: list[tuple[str, str]]
) -> Iterator[Row]:
    """The rows of some operations: together, else each alone, else one kind of each at a time."""
    pieces = [(one, kind) for one in batch for kind in one.kinds]
    found = _child(lambda: _rows(pieces, names, name), folder, DEADLINE_S)
    if not isinstance(found, Unknown):
        yield from found
    elif len(batch) > 1:
        for one in batch:
            yield from _called([one], names, name, folder, lost)
    else:
        yield from _by_kind(pieces, names, name, folder, lost)


def _by_kind(
    pieces: list[Piece], names: dict[str, Any], name: str, folder: str, lost: list[tuple[str, str]]
) -> Iterator[Row]:
    failed = 0
    for one, kind in pieces:
        if failed < LOST:
            single = _child(partial(_rows, [(one, kind)], names, name), folder, ALONE_S)
            if isinstance(single, Unknown):
                failed += 1
                lost.append((f"{one.name}, {kind[0]}", single.reason))
            else:
                yield from single


def _child(work: Callable[[], list[Row]], folder: str, deadline_s: float) -> list[Row] | Unknown:
    def guarded() -> list[Row]:
        guard(folder)
        return work()

    found: list[Row] | Unknown = isolation.run(guarded, deadline_s, MEMORY_BYTES)
    return found


def _rows(pieces: list[Piece], names: dict[str, Any], name: str) -> list[Row]:
    warnings.simplefilter("ignore")
    judged = [
        (one.name, kind, call, verdict)
        for one, kind in pieces
        for call, verdict in _accepted(one, kind, names)
    ]
    said = _traced([(kind[1], call, verdict.bound) for _, kind, call, verdict in judged], names, name)
    return [
        (name, kind[0], call, verdict.did, traced, round(verdict.made, 2))
        for (name, kind, call, verdict), traced in zip(judged, said, strict=True)
    ]


def _settle(names: dict[str, Any]) -> None:
    """The same numbers each time."""
    random.seed(7)
    names["np"].random.seed(7)
    if "torch" in names:
        names["torch"].manual_seed(7)
        names["torch"].set_num_threads(1)


def _accepted(one: Operation, kind: tuple[str, str], names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(call, verdict) of the first calls that raise nothing, and of the same with options."""
    options = one.kinds.index(kind) < WITH_OPTIONS
    _settle(names)
    kept, several = 0, False
    spare: list[dict[str, Any]] = []
    for call in one.tries():
        if kept and several != ("[x, y]" in call):
            continue
        verdict = _judged(call, kind[1], names, spare)
        if verdict is None:
            continue
        yield call, verdict
        kept, several = kept + 1, "[x, y]" in call
        if (
            kept == 1
            and options
            and one.function is not None
            and one.takes_options
            and verdict.did != "no bytes"
        ):
            for further in with_options(call, one.function):
                if (found := _judged(further, kind[1], names, spare)) is not None:
                    yield further, found
        if one.function is not None and (kept == FORMS or verdict.did == "no bytes"):
            return


def _judged(call: str, source: str, names: dict[str, Any], spare: list[dict[str, Any]]) -> Any:
    """The verdict on a call; None if it raised, and then its sources are the next call's."""
    from inspector.sessions.catalogue.truth import Verdict, judge

    space = spare.pop() if spare else _space(source, names)
    code = compile(call if _is_statement(call) else f"r = {call}", "<call>", "exec")
    ran = False

    def work() -> Any:
        nonlocal ran
        exec(code, space)
        ran = True
        return space.get("r")

    own = [space["x"], space["y"]]
    try:
        return judge(own, work)
    except BaseException as error:  # a panic of Rust's is no Exception
        if ran:
            return Verdict("unknown", why=f"{type(error).__name__}: {error}"[:120])
        spare.append(space)
        return None


def _space(source: str, names: dict[str, Any]) -> dict[str, Any]:
    other = re.sub(r"(default_rng\(|random_state=)7", r"\g<1>11", source)
    return {**names, "x": eval(source, dict(names)), "y": eval(other, dict(names))}


def _traced(calls: list[tuple[str, str, bool]], names: dict[str, Any], name: str) -> list[str]:
    """What a trace says of each call, on fresh sources."""
    ready = []
    for number, (source, call, bound) in enumerate(calls):
        text, file = f"r = {call}" if bound and not _is_statement(call) else call, f"<call {number}>"
        linecache.cache[file] = len(text) + 1, None, [text + "\n"], file
        ready.append((file, compile(text, file, "exec"), _space(source, names)))
    with _trace(name) as trace:
        for _, code, space in ready:
            with contextlib.suppress(BaseException):
                exec(code, space)
    said: dict[str, str] = {}
    for row in trace.statements.rows:
        said[str(row.site.file)] = "+".join(filter(None, (said.get(str(row.site.file)), _told(row))))
    return [said.get(file, "") for file, _, _ in ready]


def _told(row: Statement) -> str:
    """A trace's verdict on a statement, with its doubt."""
    return row.verdict if row.certain or row.verdict == "unknown" else f"{DOUBT}{row.verdict}"


def _is_statement(call: str) -> bool:
    try:
        compile(call, "<call>", "eval")
    except SyntaxError:
        return True
    return False


DOUBT: Final = "probably "
"""Before a verdict of which the trace is not certain."""
FRESH: Final = {"copied", "new values", "new"}
EXPECTED: Final[dict[str, set[str]]] = {
    "view": {"view", "shared"}, "partly a view": {"view", "shared"}, "copy": {"copied"},
    "same object": {"same object", "view", "in place"}, "copy that loses": {"copied"}, "selection": FRESH,
    "in place": {"in place", "same object", "view", "copied"}, "new values": {"new values", "new"},
    "partly new values": FRESH,
}  # fmt: skip
"""What the trace may say of what the bytes say."""


def _case(row: Row) -> Case:
    operation, kind, call, did, traced, made = row
    return Case(operation, call, kind, _did(did), traced, agrees(did, traced), made)


def _did(text: str) -> Did:
    return text  # type: ignore[return-value]


def agrees(did: str, traced: str) -> Any:
    """Whether a trace's verdicts on a statement agree with what the bytes say."""
    said = {one.removeprefix(DOUBT) for one in traced.split("+")} - {"", "unknown"}
    if did not in EXPECTED or not said or said == {"no bytes"}:
        return "not told"
    return (
        "yes"
        if said & EXPECTED[did] and (did in ("partly a view", "in place") or not said - EXPECTED[did])
        else "no"
    )
