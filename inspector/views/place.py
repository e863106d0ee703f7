"""Draws places in native code (`sample.so py_gcd+0x0`), and tables of slots and methods."""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Iterable

from inspector.facts.native import Method, Place, Slot
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Fold, Line, Span, Table

LONG_NAME = 12
"""A library with a longer name is printed once above its table, not in every row."""

_ABI_TAG = re.compile(r"\.(cpython-|abi3|pypy)[^.]*(?=\.so)|(?<=\.so)(\.\d+)+$")


def library_name(library: str | Unknown) -> str:
    """The file's name without folder, ABI tag and version: "_multiarray_umath.so"."""
    if isinstance(library, Unknown):
        return str(library)
    return _ABI_TAG.sub("", library.rpartition("/")[2]) or library


def place_spans(place: Place | Unknown, known_library: str = "") -> tuple[Span, ...]:
    """Library, symbol and offset; without a symbol the offset in the library. `known_library` is omitted."""
    if isinstance(place, Unknown):
        return (Span(str(place), "dim"),)
    if isinstance(place.library, Unknown):
        return (Span(f"{place.address:#x}", "native"), Span(f" ? {place.library.reason}", "dim"))
    library = "" if place.library == known_library else library_name(place.library)
    offset = f"+{place.offset_bytes:#x}"
    if isinstance(place.symbol, Unknown):
        reason = place.symbol.reason.partition(":")[0]
        return (Span(f"{library}{offset}", "native"), Span(f" ? {reason}", "dim"))
    return (Span(f"{library} {place.symbol}{offset}".lstrip(), "native"),)


def few(names: tuple[str, ...], separator: str, shown: int = 4) -> str:
    """The first names in one line, and the number of the rest."""
    more = f" … {len(names) - shown} more" if len(names) > shown else ""
    return separator.join(names[:shown]) + more


def flag_text(flags: tuple[str, ...]) -> str:
    """METH_ flags, the prefix written once: "METH_VARARGS|KEYWORDS"."""
    return "|".join((*flags[:1], *(flag.removeprefix("METH_") for flag in flags[1:])))


def method_table(label: str, methods: tuple[Method, ...], of: str = "", shown: int = 8) -> Fold:
    """Rows of a PyMethodDef or PyGetSetDef table: name, flags, function, first line of the doc."""
    library = _shared_library(method.place for method in methods)
    rows = tuple(
        (
            (Span(method.name, "name"),),
            (Span(flag_text(method.flags)),),
            place_spans(method.place, library),
            (Span(f'"{method.doc}"' if method.doc else "", "dim"),),
        )
        for method in methods
    )
    words = [*([f"of {of}"] if of else []), *([f"in {library_name(library)}"] if library else [])]
    return Fold(
        _summary(label, f"{len(methods):,}", " ".join(words)), (Table(("", "", "", ""), rows),), shown
    )


def slot_table(slots: Iterable[Slot], defined_in: str = "", shown: int = 6) -> Fold:
    """Filled slots: own slots first (those in the type's own file before others), inherited ones folded."""
    ordered = sorted(slots, key=lambda slot: (slot.inherited, _library(slot.place) != defined_in))
    own = sum(not slot.inherited for slot in ordered)
    library = defined_in if len(library_name(defined_in)) > LONG_NAME else ""
    rows = tuple(
        (
            (Span(slot.name, "dim" if slot.inherited else "name"),),
            (Span(slot.value),) if slot.value else place_spans(slot.place, library),
            (Span("inherited" if slot.inherited else "", "dim"),),
        )
        for slot in ordered
    )
    inherited = f"{len(ordered) - own} inherited" if own < len(ordered) else ""
    return Fold(
        _summary("slots", f"{own} own", inherited), (Table(("", "", ""), rows),), min(shown, max(own, 1))
    )


def name_table(label: str, names: tuple[str, ...], shown: int) -> Fold:
    """Names, one per row."""
    rows = tuple(((Span(name),),) for name in names)
    return Fold(_summary(label, f"{len(names):,}"), (Table(("",), rows),), shown)


def _library(place: Place | Unknown) -> str:
    return "" if isinstance(place, Unknown) or isinstance(place.library, Unknown) else place.library


def _shared_library(places: Iterable[Place | Unknown]) -> str:
    """The one library of all places, if its name is long; else ""."""
    found = {_library(place) for place in places}
    only = found.pop() if len(found) == 1 else ""
    return only if len(library_name(only)) > LONG_NAME else ""


def _summary(label: str, value: str, evidence: str = "") -> Line:
    spans = (Span(value), Span(f"  {evidence}", "dim")) if evidence else (Span(value),)
    return Line(label, spans, explain=_EXPLAIN[label], link=f"docs/reference/card.md#{label}")


_EXPLAIN = {
    "slots": "Functions that CPython calls through the type or module itself, by their C names.",
    "methods": "Rows of the PyMethodDef table: name, calling convention, C function, doc.",
    "members": "Rows of the PyMemberDef table: attributes that are fields of the struct.",
    "getset": "Rows of the PyGetSetDef table: attributes computed by C, with the getter.",
    "types": "Types in the module's namespace whose __module__ is this module.",
}
