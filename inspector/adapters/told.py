"""What an adapter reports about materialization; the probe derives everything else."""

# SPDX-License-Identifier: MIT
from inspector.facts.finding import Finding, finding
from inspector.facts.materialization import NOT_RECORDED, Evidence, Layer, Level, State
from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

__all__ = [
    "Evidence",
    "Finding",
    "Layer",
    "Level",
    "Told",
    "attribute",
    "closed",
    "field",
    "finding",
    "of_type",
    "recipe",
    "told",
]

DERIVED = Unknown("the probe derives it")
_CPP_OWNS = "C++ owns the object, and nothing in Python keeps it alive"
BORROWED = finding("borrowed-pointer", _CPP_OWNS, do="return it with a policy that owns", certain=False)
"""An instance of a class that a C++ binding generator wrapped."""


@dataclass(frozen=True, slots=True)
class Told:
    """The result of `Adapter.layers`. All fields are optional: the probe derives the missing ones."""

    layers: tuple[Layer, ...] = ()
    """wrapper -> container -> buffer. Set `spans` to the bytes: the probe reads their pages from the kernel.
    If no layer has spans, the probe adds a buffer layer from `Adapter.spans`."""
    state: State | Unknown = DERIVED
    """The state, if the layers' four answers do not imply it: "virtual", "unowned", "freed"."""
    logical_bytes: int | Unknown = DERIVED
    """Default: from `Adapter.elements`."""
    retained_bytes: int | Unknown = DERIVED
    """Default: from the spans and those of `Adapter.holds`, each byte counted once."""
    waits_for: str = ""
    materialized_by: str | Unknown = NOT_RECORDED
    findings: tuple[Finding, ...] = ()
    layers_left_out: int = 0
    """Parts (blocks, chunks) that were not inspected because of a bound."""
    in_words: str = ""
    """One sentence on the state of the object that the other fields do not give: who holds a lock."""


def attribute(place: str, says: object) -> Evidence:
    """An attribute that was read: `attribute("x.base", "None")`. `says` must be a str, int, bool or None."""
    return Evidence("attribute", place, str(says))


def field(place: str, says: object) -> Evidence:
    """A field of the C struct that was read; nothing was called."""
    return Evidence("field", place, str(says))


def of_type(name: str) -> Evidence:
    """The exact type is the evidence."""
    return Evidence("type", "type(x)", name)


def recipe(
    what: str,
    waits_for: str,
    *evidence: Evidence,
    also: tuple[str, ...] = (),
    would_not: tuple[str, ...] = ("repr",),
    logical_bytes: int | Unknown = DERIVED,
) -> Told:
    """A lazy object: it only stores how to make its elements. `waits_for` makes them, and so does `also`."""
    use = (waits_for, *also)
    layer = Layer("wrapper", what, "lazy", "none", evidence=evidence, would=use, would_not=would_not)
    return Told((layer,), state="lazy", waits_for=waits_for, logical_bytes=logical_bytes)


def closed(what: str, *evidence: Evidence) -> Told:
    """An object that is alive but whose data was freed."""
    return Told((Layer("wrapper", what, "closed", "none", evidence=evidence or (of_type(what),)),))


def told(what: str, waits_for: str, there: bool) -> Told:
    """The report of an object by what it waits for ("": nothing) and whether it has bytes already."""
    if not waits_for:
        return Told()
    if not there:
        return recipe(what, waits_for, of_type(what))
    layer = Layer("wrapper", what, "partial", evidence=(of_type(what),), would=(waits_for,))
    return Told((layer,), waits_for=waits_for)
