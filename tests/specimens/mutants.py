"""C text with its reference counting open to mutation: one build, and the environment chooses the mutant.

Each statement that takes, gives back or hands over a reference becomes one that asks `mutant` first. So a
mutant costs a run, not a compilation, and number 0 is the extension as its authors wrote it. The variants of
a place: removed, doubled, and moved past the next statement (a release: before the one that stands before).
"""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

TAKES: Final = ("Py_INCREF", "Py_XINCREF")
RELEASES: Final = ("Py_DECREF", "Py_XDECREF", "Py_CLEAR")
STEALS: Final = ("PyTuple_SET_ITEM", "PyList_SET_ITEM", "PyTuple_SetItem", "PyList_SetItem")
NEW: Final = ("Py_NewRef", "Py_XNewRef")
SETS: Final = ("Py_SETREF", "Py_XSETREF")
VARIANTS: Final = ("removed", "doubled", "moved")
VARIABLE: Final = "INSPECTOR_MUTANT"

_PLACE: Final = re.compile(rf"\b({'|'.join((*TAKES, *RELEASES, *STEALS, *NEW, *SETS))})\s*\(")
_JUMPS: Final = r"(?:return|goto|break|continue|else|case|default|for|while|if|switch|do)\b|\}"
_GAP: Final = r"(?:\s|/\*.*?\*/)*"
_SIMPLE: Final = re.compile(rf"(?!{_GAP}(?:{_JUMPS})){_GAP}[^;{{}}#]*;", re.DOTALL)
_BEFORE: Final = re.compile(rf"(?<=[;{{}}])(?!{_GAP}(?:{_JUMPS}))[^;{{}}#:]*;{_GAP}\Z", re.DOTALL)
_BLANK: Final = re.compile(r"(\s|\\\n|\n[ \t]*#[^\n]*\n)*\Z")
"""What stands between two statements: spaces, ends of a macro's lines, lines of the preprocessor."""
PROLOGUE: Final = f"""
#include <stdlib.h>
int mutant;
unsigned char mutant_reached[4096];
__attribute__((constructor)) static void choose_mutant(void) {{
    const char *chosen = getenv("{VARIABLE}");
    mutant = chosen ? atoi(chosen) : 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one place."""

    number: int
    variant: str
    line: int
    text: str

    @property
    def place(self) -> int:
        """The number that its place is known by."""
        return self.number - VARIANTS.index(self.variant)

    def __str__(self) -> str:
        return f"{self.number} {self.variant} {' '.join(self.text.split())}"


def opened(source: str) -> tuple[str, tuple[Mutant, ...]]:
    """The text with every place open, and its mutants."""
    edits: list[tuple[int, int, str]] = []
    mutants: list[Mutant] = []
    for start, stop, name, arguments in _places(source):
        number = 1 + 3 * len({one.number // 3 for one in mutants})
        text = source[start:stop]
        line = source.count("\n", 0, start) + 1
        if name in NEW:
            twice = f"(mutant == {number + 1} ? {name}({name}({arguments})) : {name}({arguments}))"
            once = f"mutant == {number} ? ({arguments}) : {twice}"
            edits.append((start, stop, f"(mutant_reached[{number}] = 1, {once})"))
            variants = VARIANTS[:2]
        else:
            place = _moved(source, start, stop, name, arguments)
            edits.append((start, stop, _statement(number, name, arguments, text, place is not None)))
            if place is not None:
                early = f"Py_XDECREF({arguments})" if name == "Py_CLEAR" else text
                edits.append((place, place, f" if (mutant == {number + 2}) {{ {early}; }} "))
            variants = VARIANTS if place is not None else VARIANTS[:2]
        mutants += [Mutant(number + at, variant, line, text) for at, variant in enumerate(variants)]
    return _edited(source, edits), tuple(mutants)


def _statement(number: int, name: str, arguments: str, text: str, moves: bool) -> str:
    reached = f"mutant_reached[{number}] = 1"
    unless = f"mutant != {number}" + (f" && mutant != {number + 2}" if moves else "")
    if name in STEALS:
        *_, given = _split(arguments)
        # not handed over: somebody keeps a reference more; handed over twice: it is released here too
        return (
            f"do {{ {reached}; PyObject *given_ = (PyObject *)({given}); "
            f"if (mutant == {number}) Py_XINCREF(given_); "
            f"{name}({','.join(_split(arguments)[:-1])}, given_); "
            f"if (mutant == {number + 1}) Py_XDECREF(given_); }} while (0)"
        )
    if name in SETS:  # what was there before is kept, or released once more
        held = _split(arguments)[0]
        return (
            f"do {{ {reached}; if (mutant == {number}) Py_XINCREF({held}); "
            f"if (mutant == {number + 1}) Py_XDECREF({held}); {text}; }} while (0)"
        )
    more = f"Py_XDECREF({arguments})" if name == "Py_CLEAR" else text
    if name == "Py_CLEAR" and moves:  # released too early; what reads the variable meanwhile does not see it
        text = f"{text}; }} else if (mutant == {number + 2}) {{ {arguments} = NULL"
    twice = f"if (mutant == {number + 1}) {{ {more}; }}"
    return f"do {{ {reached}; {twice} if ({unless}) {{ {text}; }} }} while (0)"


def _places(source: str) -> Iterator[tuple[int, int, str, str]]:
    """Start, stop, name and arguments of each call: a statement of its own, or an expression that is new."""
    last = 0
    for found in _PLACE.finditer(source):
        start, name = found.start(), found.group(1)
        if start < last:  # within another's arguments
            continue
        line_start = source.rfind("\n", 0, start) + 1
        if re.match(r"\s*(#\s*(?!define)|//|\*|/\*)", source[line_start:start]):
            continue
        stop = _closed(source, found.end())
        arguments = source[found.end() : stop - 1]
        before = _BLANK.sub("", source[max(0, start - 400) : start])
        after = source[stop : stop + 20].lstrip()[:1]
        alone = after == ";" and before.endswith((";", "{", "}", ")", ":", "else", "*/"))
        if name in NEW or alone:
            last = stop
            yield start, stop, name, arguments


def _closed(source: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return at


def _split(arguments: str) -> list[str]:
    """The arguments of a call, cut at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _moved(source: str, start: int, stop: int, name: str, arguments: str) -> int | None:
    """Where a moved call goes; None where there is no simple statement to pass."""
    if (
        name in (*STEALS, *SETS)
        or source[:start].rstrip()[-1:] not in ";{}"
        or "\\\n" in source[start - 80 : stop + 80]
    ):
        return None
    root = re.escape(re.split(r"\W", arguments.strip("(&* "), maxsplit=1)[0])
    if name in TAKES:
        after = _SIMPLE.match(source, source.index(";", stop) + 1)
        return None if after is None else after.end()
    before = _BEFORE.search(source, max(0, start - 400), start)
    declares = rf"\b{root}\b\s*=[^=]|^\s*[\w ]+\*+\s*\w+\s*(=|;)|^\s*\w+\s+\w+\s*(=|;)"
    return None if before is None or re.search(declares, before.group()) else before.start()


def _edited(source: str, edits: list[tuple[int, int, str]]) -> str:
    for start, stop, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[stop:]
    return source


__all__ = ["PROLOGUE", "VARIABLE", "Mutant", "opened"]
