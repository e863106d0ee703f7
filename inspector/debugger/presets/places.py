"""Parse the user's places for gdb: location, condition, prototype."""

# SPDX-License-Identifier: MIT
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from inspector.debugger.presets import preset_named
from inspector.debugger.presets.prototypes import parsed
from inspector.errors import InspectorError

PATTERN_MAX: Final = 50
"""A pattern may match at most so many functions."""
_LINE: Final = re.compile(r"[^\s:]+:\d+$")
_FUNCTION: Final = re.compile(r"[\w:~<>,$.@*&()\[\] ]+$")


class Asked(NamedTuple):
    """One place as it is sent to gdb."""

    place: str
    spec: str
    condition: str
    prototype: str


def asked(
    places: Sequence[str], preset: str | None, prototypes: Sequence[str], pid: int = 0
) -> tuple[Asked, ...]:
    """The places of the user and of a preset, each with its prototype if known.

    A place is a function, a C++ function by its base name, file.c:line, a pattern (PyArray_From*) or a
    prototype ("PyObject *probe(PyObject *x)"); " if CONDITION" may follow. Raises bad-place, bad-prototype,
    no-preset.
    """
    chosen = preset_named(preset) if preset else None
    known = dict(chosen.prototypes) if chosen else {}
    for line in prototypes:
        known[parsed(line).name] = line
    found = [one for text in (*places, *(chosen.places if chosen else ())) for one in _one(text, known, pid)]
    if not found:
        raise _bad("", "no place was given: --at PLACE or --preset PRESET gives one")
    return tuple(found)


def _one(text: str, known: dict[str, str], pid: int) -> Iterator[Asked]:
    if not isinstance(text, str):
        raise _bad(f"{text!s:.60}", "a place is a text")
    place, _, condition = (part.strip() for part in text.partition(" if "))
    if not place or not place.isprintable() or place.startswith("-"):
        raise _bad(text, "it is empty or not printable")
    if "(" in place and " " in place.partition("(")[0].strip():
        function = parsed(place).name
        yield Asked(function, function, condition, place)
    elif any(sign in place for sign in "*?[") and "operator" not in place:
        for name in matching(place, pid or os.getpid()):
            yield Asked(name, name, condition, prototype(name, known))
    elif " " in place and not any(sign in place for sign in "<(") and "operator" not in place:
        raise _bad(text, "a function's name has no space")
    elif _LINE.match(place) or _FUNCTION.match(place):
        yield Asked(place, place, condition, prototype(place, known))
    else:
        raise _bad(text, "it is not a function, file.c:line or a pattern")


def prototype(name: str, known: dict[str, str]) -> str:
    """The prototype of a function: of the user, the preset or CPython's headers; "" for none."""
    from inspector.debugger.presets import of_cpython

    return known.get(name) or of_cpython().get(name, "")


def matching(pattern: str, pid: int) -> list[str]:
    """Functions of a process's files that match, sorted. Raises bad-place: none, or too many."""
    from inspector.binaries.symbol_table import symbol_table
    from inspector.debugger.memory import proc
    from inspector.facts.unknown import Unknown

    names: set[str] = set()
    for path in {mapping.path for mapping in proc.code(pid)}:
        table = symbol_table(path)
        if not isinstance(table, Unknown):
            every = {
                table.names[at : table.names.index(b"\0", at)].decode("ascii", "replace")
                for at in table.name_offsets
            }
            names.update(name for name in every if fnmatchcase(name, pattern))
    if not names:
        raise _bad(pattern, "no loaded file has such a function")
    if len(names) > PATTERN_MAX:
        raise _bad(pattern, f"{len(names):,} functions match, at most {PATTERN_MAX} are watched at once")
    return sorted(names)


def _bad(text: str, why: str) -> InspectorError:
    return InspectorError(
        f"not a place: {text[:80]!r}.",
        slug="bad-place",
        why=why,
        do="PyFloat_FromDouble, ext.c:12, 'PyArray_From*' or 'int probe(PyObject *x)', also with ' if n > 3'",
    )
