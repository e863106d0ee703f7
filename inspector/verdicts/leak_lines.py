"""The lines of native code that a verdict is about, with the line that is missing or too many."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from inspector.facts.leaks import Kind, SourceLine, Suspect, Touch, Verdict
from inspector.facts.unknown import Unknown

MOST_LINES: Final = 5
STEALING: Final = ("stolen", "stolen on failure")
_HEADERS: Final = (".h", ".hpp", ".hh", ".hxx")
OBTAINING: Final = ("new", "stored", "replaced")
_NOTES: Final = {
    "new": "a new reference, yours",
    "borrowed": "lends a reference: not yours",
    "stolen": "takes your {parameter}",
    "stolen on failure": "failed, yet took your {parameter}",
    "not stolen": "failed, and did not take your {parameter}",
    "kept": "takes its own; yours stays",
    "released": "releases one",
    "stored": "stores a new reference, yours",
    "replaced": "replaces it",
    "died": "released its last reference",
    "freed": "frees the memory",
    "viewed": "makes the view",
    "allocated": "allocates the block",
    "caller": "calls that",
}
Texts = Mapping[str, Sequence[str]]
"""Path of a source file -> its lines."""


def lines_of(verdict: Verdict, texts: Texts) -> tuple[SourceLine, ...]:
    """The lines of the calls on the object, and what to change there; () where no text is at hand."""
    touches = [touch for touch in _touches(verdict) if _number(touch) and touch.path in texts]
    shown = [*_merged(touches, texts)][:MOST_LINES]
    made = verdict.conversion
    changes = (
        _change(verdict.kind, made, touches, texts) if isinstance(made, Touch) and made in touches else ()
    )
    return (*shown, *changes) if shown else ()


def _touches(verdict: Verdict) -> list[Touch]:
    """The calls on the object, in the order they ran; the one that is to blame among them."""
    made = verdict.conversion
    calls = [one for one in verdict.stack if one.role in _NOTES]
    return calls if isinstance(made, Unknown) or made in calls or made.role not in _NOTES else [made, *calls]


def _number(touch: Touch) -> int:
    """The line's number; of Cython's two that of the .pyx."""
    source = touch.source if isinstance(touch.source, str) else ""
    number = source.partition(" ")[0].rpartition(":")[2]
    return int(number) if number.isdigit() else 0


def _merged(touches: Sequence[Touch], texts: Texts) -> Iterator[SourceLine]:
    """A line for each place; the calls of one line in one note."""
    places: dict[tuple[str, int], list[str]] = {}
    for touch in touches:
        said = _NOTES.get(touch.role, "").format(parameter=touch.parameter)
        notes = places.setdefault((touch.path, _number(touch)), [])
        notes += [said] if said not in notes else []
    for (path, number), notes in places.items():
        yield SourceLine(_name(path), number, _text(texts[path], number), "; ".join(notes))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _text(lines: Sequence[str], number: int) -> str:
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _change(kind: Kind, made: Touch, touches: Sequence[Touch], texts: Texts) -> Iterator[SourceLine]:
    """The line that is missing, or the one that is too many; nothing where it is not known which."""
    lines, name = texts[made.path], _name(made.path)
    text = _text(lines, _number(made))
    if kind in ("leaked", "capsule leaked") and made.role in ("new", "stored"):
        if variable := _bound(text, made.function):
            yield SourceLine(name, 0, f"Py_DECREF({variable});", "missing", "missing")
    elif kind == "buffer not released":
        if variable := _argument(text, made.function, 1):
            yield SourceLine(name, 0, f"PyBuffer_Release({variable});", "missing", "missing")
    elif kind == "over-released" and made.role in ("stolen", "stolen on failure"):
        for number in _releases(_made_before(touches, made), _number(made), lines):
            yield SourceLine(name, number, _text(lines, number), "releases it again", "surplus")


def _made_before(touches: Sequence[Touch], taken: Touch) -> Touch | None:
    """The call that made the object, in the file of the one that took it."""
    return next((one for one in touches if one.role == "new" and one.path == taken.path), None)


def _releases(made: Touch | None, after: int, lines: Sequence[str]) -> list[int]:
    """The line after a call, up to the function's end, that releases what `made` bound; [] if several do."""
    variable = _bound(_text(lines, _number(made)), made.function) if made else ""
    if not variable:
        return []
    end = next((n for n, line in enumerate(lines[after:], after) if line.startswith("}")), len(lines))
    release = re.compile(rf"\bPy_X?DECREF\s*\(\s*{re.escape(variable)}\s*\)")
    found = [number for number, line in enumerate(lines[after:end], after + 1) if release.search(line)]
    return found if len(found) == 1 else []


def _bound(text: str, function: str) -> str:
    """The variable that gets the result of a call: "key" of `PyObject *key = PyLong_FromLong(1)`."""
    found = re.search(
        rf"([A-Za-z_]\w*(?:(?:->|\.)\w+)*)\s*=\s*(?:\([\w *]+\)\s*)?{re.escape(function)}\s*\(", text
    )
    return found[1] if found else ""


def _argument(text: str, function: str, at: int) -> str:
    """An argument of a call that stands on one line and has no brackets inside."""
    found = re.search(rf"{re.escape(function)}\s*\(([^()]*)\)", text)
    arguments = found[1].split(",") if found else []
    return arguments[at].strip() if at < len(arguments) else ""


def open_buffer(touches: Sequence[Touch]) -> Touch | None:
    """The last PyObject_GetBuffer without a PyBuffer_Release."""
    still: list[Touch] = []
    for touch in touches:
        if touch.function == "PyObject_GetBuffer":
            still.append(touch)
        elif touch.function == "PyBuffer_Release" and still:
            still.pop()
    return still[-1] if still else None


def may_have_lost(obj: Suspect, last: Touch) -> tuple[Touch, ...]:
    """The calls up to `last`, one of which took the reference that is lost; () where counts were not noted.

    Compiled code releases without a call. Where a call found no more references than were handed on before
    it, all that were taken before it had been released. What a header of a binding took is told only where
    nothing else took one.
    """
    found: list[Touch] = []
    handed_on = 0
    for touch in obj.touches[: obj.touches.index(last) + 1]:
        if touch.role in OBTAINING:
            if not touch.count:
                return ()
            found = [touch] if touch.count - 1 <= handed_on else [*found, touch]
        handed_on += touch.role in ("kept", *STEALING)
    return tuple(touch for touch in found if not _is_in_header(touch)) or tuple(found)


def _is_in_header(touch: Touch) -> bool:
    return str(touch.source).rpartition(":")[0].endswith(_HEADERS)
