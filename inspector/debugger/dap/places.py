"""Breakpoints of an editor as places for gdb: in files that gdb knows, and by the name of a function."""

# SPDX-License-Identifier: MIT
import re
from functools import cache
from pathlib import PurePath
from typing import Any, Final

from inspector.debugger.dap.hit_counts import rule
from inspector.debugger.presets import names, preset_named
from inspector.debugger.presets.places import prototype

FIRST: Final = 1_000_000_000
"""Our numbers of breakpoints, frames, variables and threads begin here: debugpy's are small."""
_SUFFIXES: Final = ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .inc .pyx .pxd .pxi .rs .f .f90 .cu .s"
_DOTTED: Final = re.compile(r"\w+(\.\w+)+$")
_CELL: Final = "native-inspector/c/*/cell"
"""The C of a `%%inspect_c` cell, as sessions/compiler keeps it."""
Place = dict[str, Any]


def is_native(source: dict[str, Any]) -> bool:
    """Whether gdb knows files of this kind."""
    path = PurePath(str(source.get("path") or source.get("name") or ""))
    return path.suffix.lower() in _SUFFIXES.split() or path.match(_CELL)


def in_file(path: str, wanted: dict[str, Any], number: int) -> Place:
    """The place of one of the editor's SourceBreakpoint."""
    if '"' in path or not path.isprintable():
        raise ValueError("a path with quotes")
    line = int(wanted["line"])
    place = {"spec": f'-source "{path}" -line {line}', "prototype": ""}
    return {**place, **options(wanted), "number": number}


def in_cell(text: str, before: int, wanted: dict[str, Any], number: int) -> Place:
    """A place in the C of a `%%inspect_c` cell, of which `before` lines of the notebook are no C."""
    place = in_file("cell", {**wanted, "line": int(wanted["line"]) - before}, number)
    return {**place, "cell": text, "before": before}


def by_name(wanted: dict[str, Any], number: int) -> Place:
    """The place of a FunctionBreakpoint: f, std::f, library.so!f, or package.f as Python has it."""
    name = str(wanted["name"]).strip()
    library, _, function = name.rpartition("!")
    if not function or not name.isprintable() or function.startswith(("-", "*")):
        raise ValueError("no name of a function")
    place: Place = {"spec": function, "prototype": prototype(function, known()), **options(wanted)}
    if library:
        place["library"] = library
    elif _DOTTED.match(function):
        place |= {"spec": "", "dotted": function}
    return {**place, "number": number}


def is_only_native(name: str) -> bool:
    """Whether a function of this name can be none of Python's that debugpy finds by its name."""
    return name.startswith(("Py", "_Py")) or not name.isidentifier()


@cache
def known() -> dict[str, str]:
    """The prototypes of all presets."""
    return {name: line for one in names() for name, line in preset_named(one).prototypes.items()}


def options(wanted: dict[str, Any]) -> Place:
    """Condition, hit count and log message of one of the editor's breakpoints. Raises ValueError."""
    return {
        "condition": wanted.get("condition") or "",
        "hits": rule(str(wanted.get("hitCondition") or "")),
        "log": wanted.get("logMessage") or "",
    }


def answered(told: dict[str, Any], place: Place) -> dict[str, Any]:
    """gdb's answer as the protocol's Breakpoint."""
    found = {"id": told["number"], "verified": told["verified"]}
    if "line" in told:
        found["line"] = told["line"] + place.get("before", 0)
    return found if told["verified"] else {**found, "message": told.get("refused") or waiting(place)}


def waiting(place: Place) -> str:
    """Why a breakpoint is not in place yet."""
    if "dotted" in place:
        package, _, method = place["dotted"].partition(".")
        return f"no loaded library of {package} has {method} in a method table yet"
    if "cell" in place:
        return "this cell has not been compiled yet, or has no code at this line: run it"
    if place["spec"].startswith("-source"):
        return (
            "no loaded library has code of this line: it is not loaded yet, or has no debug information (-g)"
        )
    return f"no loaded library has a function {place['spec']} yet"
