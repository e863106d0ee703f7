"""The hits of an R script: without those of the start, each at the line of the script that led to it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from inspector.facts.stack import Frame, Hit, Hits

STARTS = frozenset((
    "ensure_python_initialized", "library", "require", "loadNamespace", "requireNamespace", "import",
    "use_python", "use_virtualenv", "use_condaenv", "py_config", "py_flush_output", "py_available",
    "py_module_available", "py_resolve_module_proxy",
))  # fmt: skip
"""R functions that make packages and Python ready, or print what Python left to print."""
CALLBACK = "cb(expr, value, succeeded, visible)"
"""How R calls a task callback, which reticulate has for Python's output; it belongs to no expression."""


def of_script(
    hits: Hits, script: tuple[str, tuple[str, ...]], ends: Sequence[tuple[int, int, int]] = ()
) -> Hits:
    """The hits that the script's own expressions led to.

    `script`: its name and its lines; `ends`: when each statement was over, its first and last line.
    """
    if not any(frame.kind == "r" for hit in hits.hits for frame in hit.stack.frames):
        return hits
    kept = [hit for hit in hits.hits if _is_of_script(_of_r(hit))]
    placed, last = list[Hit](), 0
    for hit in kept:
        running = next(((first, over) for at, first, over in ends if hit.at_ns <= at), None)
        if running:
            last = _line(hit, script[1][: running[1]], running[0]) or running[0]
        else:
            last = _line(hit, script[1], max(last, *(over + 1 for *_, over in ends), 0))
        placed.append(_at(hit, script, last))
    return replace(hits, hits=tuple(placed), at_startup=len(hits.hits) - len(kept))


def _is_of_script(frames: list[Frame]) -> bool:
    if any(frame.function in STARTS for frame in frames):
        return False
    return bool(frames) and frames[-1].call != CALLBACK


def _of_r(hit: Hit) -> list[Frame]:
    return [frame for frame in hit.stack.frames if frame.kind == "r"]


def _line(hit: Hit, lines: tuple[str, ...], last: int) -> int:
    """Number of the first line from `last` on that holds the outermost call, else of one before it, or 0."""
    frames = _of_r(hit)
    if not frames:
        return last
    pattern = _pattern(frames[-1].call)
    numbers = [*range(max(last, 1), len(lines) + 1), *range(1, last)]
    return next((one for one in numbers if re.search(pattern, lines[one - 1])), 0)


def _pattern(call: str) -> str:
    """A regular expression for a call as it is written, with any space."""
    call = re.sub(r'(\$|`\$<-`\(`?\*tmp\*`?, )"([\w.]+)"', r"\1\2", call)  # as compiled code has it
    if found := re.match(r"`(\$|\[\[|@)<-`\(`?\*tmp\*`?, (\S+), value = ", call):
        return rf"{re.escape(found[1])}\s*{re.escape(found[2])}\S*\s*(<-|=[^=])"
    head = call.partition("...")[0]
    written = r"\s*".join(re.escape(part) for part in re.findall(r"\w+|\W", head.replace(" ", "")))
    return rf"(?<![\w.]){written}(?![\w.]|\s*(<-|=[^=]))"  # no other name, and not assigned to


def _at(hit: Hit, script: tuple[str, tuple[str, ...]], number: int) -> Hit:
    """The hit with the script's line in its outermost frame of R."""
    frames = list(hit.stack.frames)
    at = max((place for place, frame in enumerate(frames) if frame.kind == "r"), default=-1)
    if at < 0 or not number:
        return hit
    text = " ".join(script[1][number - 1].split())
    frames[at] = replace(frames[at], line=f"{script[0]}:{number}", call=text)
    return replace(hit, stack=replace(hit.stack, frames=tuple(frames)))
