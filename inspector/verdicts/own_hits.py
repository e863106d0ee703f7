"""The hits that a program's own code led to: by lines of an R script, and of a host of Python."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from inspector.facts.stack import Frame, Hit, Hits

STARTS = frozenset((
    "ensure_python_initialized", "library", "require", "loadNamespace", "requireNamespace", "import",
    "use_python", "use_virtualenv", "use_condaenv", "py_config", "py_flush_output", "py_available",
    "py_module_available", "py_resolve_module_proxy",
))  # fmt: skip
"""R functions that make packages and Python ready, or print what Python left to print."""
CALLBACK = "cb(expr, value, succeeded, visible)"
"""How R calls a task callback, which reticulate has for Python's output; it belongs to no expression."""
PUBLIC: Final = re.compile(r"Py[A-Z_]\w*")
"""A function of the C API: one that a host calls may call another."""


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


def of_host(hits: Hits, program: str) -> Hits:
    """Without the hits that Python, or an extension of it, led to; `program`: the name of its file."""
    kept = tuple(hit for hit in hits.hits if _is_own(hit, program))
    return replace(hits, hits=kept, of_python=len(hits.hits) - len(kept)) if kept else hits


def _is_own(hit: Hit, program: str) -> bool:
    """Whether a frame of the program called it, through nothing but the C API."""
    above = [frame for frame in hit.stack.frames if not frame.plumbing]
    names = [frame.function for frame in above]
    if len(names) > 1 and names[0] == names[1]:
        return False  # a part of the function that the compiler put elsewhere
    first = next((frame for frame in above if not _is_of_api(frame)), None)
    return first is not None and first.kind == "native" and first.library == program


def _is_of_api(frame: Frame) -> bool:
    is_python = str(frame.library).startswith("libpython")
    return frame.kind == "native" and is_python and PUBLIC.fullmatch(frame.function) is not None
