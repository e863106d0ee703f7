"""Reads the rows of native/r/lazy_rows.c: the lazy vectors of an R process, by statement."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.facts.lazy_trace import LazyMade, LazyRead, LazyStatement, LazyTrace, LazyVector

LEAST_BYTES: Final = 10_000
"""A vector without a name is told from this size on."""
TYPES: Final = {10: "logical", 13: "integer", 14: "double", 15: "complex", 16: "character", 24: "raw"}
EVALUATORS: Final = ("Rf_eval", "Rf_applyClosure", "R_execMethod", "R_forceAndCall")
DEFINES: Final = re.compile(r"^\s*([\w.]+)\s*(?:<-|=)\s*function\b")
PASSES_ON: Final = (".Internal", ".Call", "<-", "=", "(", "{")


@dataclass
class _Rows:
    """The rows of one statement."""

    text: str = ""
    line: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)


def read(folder: Path, script: str) -> LazyTrace:
    """The trace of the process that wrote the most rows into a folder. Raises InspectorError `no-r`."""
    files = sorted(folder.glob("lazy-*.jsonl"), key=lambda path: -path.stat().st_size)
    lines = files[0].read_text(errors="replace").splitlines() if files else []
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    if not rows:
        raise InspectorError(
            "no R was watched.",
            slug="no-r",
            why="the program started no R, or one that has not the functions of R 4",
            do="inspector trace --lazy -- Rscript script.R",
        )
    vectors = {row["vector"]: _vector(row) for row in rows if "vector" in row}
    statements: dict[int, _Rows] = {}
    for row in rows:
        one = statements.setdefault(row.get("statement", -1), _Rows())
        if "text" in row:
            one.text, one.line = row["text"], row["line"]
        else:
            one.rows.append(row)
    own = {found[1] for one in statements.values() if (found := DEFINES.match(one.text))}
    whole = _source(script)
    told = [_statement(one, vectors, own, whole) for number, one in sorted(statements.items()) if number > 0]
    last: dict[str, Any] = next((row for row in reversed(rows) if "end" in row), {})
    return LazyTrace(
        Path(script).name,
        tuple(one for one in told if one.made or one.read or one.materialized),
        last.get("small", 0),
        last.get("left_out", 0),
    )


def _vector(row: dict[str, Any]) -> LazyVector:
    item = row["item"]
    name = f"{row['name']}${item}" if item else row["name"]
    count = max(row["length"], 0)
    return LazyVector(
        name, row["class"], row["package"], TYPES.get(row["type"], "vector"), row["length"],
        count * row["item_bytes"],
    )  # fmt: skip


def _is_told(one: LazyVector) -> bool:
    is_wrapper = one.package == "base" and one.class_name.startswith("wrap_")  # its elements are there
    return not is_wrapper and (bool(one.name) or one.bytes >= LEAST_BYTES)


def _source(script: str) -> str:
    try:
        return Path(script).read_text(errors="replace")
    except OSError:
        return ""


def _statement(found: _Rows, vectors: dict[int, LazyVector], own: set[str], whole: str) -> LazyStatement:
    def told(kind: str) -> Iterator[tuple[dict[str, Any], LazyVector]]:
        for row in found.rows:
            one = vectors.get(row.get(kind, -1))
            if one is not None and _is_told(one):
                yield row, one

    materialized = tuple(_made(row, one, (found.text, whole), own) for row, one in told("materialized"))
    done = {made.vector for made in materialized}
    reads = (_read(row, one) for row, one in told("read") if one not in done)
    return LazyStatement(
        found.line, found.text.strip(), tuple(one for _, one in told("vector")), tuple(reads), materialized
    )


def _read(row: dict[str, Any], one: LazyVector) -> LazyRead:
    """A vector that its name had left before the statement is told without it."""
    named = replace(one, name="") if row["nameless"] else one
    return LazyRead(named, row["elements"], row["regions"], row["strings"])


def _made(row: dict[str, Any], one: LazyVector, texts: tuple[str, str], own: set[str]) -> LazyMade:
    inner = tuple(_inner(row["frames"], texts))
    calls = tuple(row["calls"])
    method = "Duplicate" if row["copied"] else "Dataptr"
    functions = (*calls, *inner, f"{one.class_name} {method}")
    by = _users(calls, row["parents"], own) or (inner[0] if inner else "")
    return LazyMade(one, row["ns"], bool(row["writable"]), bool(row["copied"]), by, functions)


def _users(calls: tuple[str, ...], parents: list[int], own: set[str]) -> str:
    """The innermost function that the user's code called; "" where that was no R closure."""
    users = {0, *(at for at, name in enumerate(calls, 1) if name in own)}
    called = [name for name, parent in zip(calls, parents, strict=False) if parent in users]
    while len(called) > 1 and called[-1].startswith(f"{called[-2]}."):  # the method of a generic
        called.pop()
    return called[-1] if called and called[-1] not in own else ""


def _inner(frames: list[Any], texts: tuple[str, str]) -> Iterator[str]:
    """Names of the C functions from R's evaluator down to the pointer, outermost first."""
    within = []
    for name, library, builtins in frames:
        if name in EVALUATORS:
            break
        if library != "in_r.so" and (word := name or _builtin(builtins, texts)) not in PASSES_ON:
            within.append(word)
    yield from (word for word in reversed(within) if word)


def _builtin(names: list[str], texts: tuple[str, str]) -> str:
    """Which of the R functions that share C code ran: the one that the statement, or the script, names."""
    for text in texts:
        named = [name for name in names if name in text.replace("<-", "")]
        if len(named) == 1:
            return named[0]
    return "/".join(names[:3])
