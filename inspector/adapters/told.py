"""What an adapter tells about materialization: only what the library knows; the probe adds the rest."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Told:
    """The answer of `Adapter.layers`. All fields may be left out: the probe derives what is not said."""

    layers: tuple[Layer, ...] = ()
    """wrapper -> container -> buffer. Give `spans` where bytes lie: the probe asks the kernel about their
    pages. If no layer has spans, the probe adds a buffer layer from `Adapter.spans`."""
    state: State | Unknown = DERIVED
    """The headline, where the four axes of the layers do not say it: "virtual", "unowned", "freed"."""
    logical_bytes: int | Unknown = DERIVED
    """Derived from `Adapter.elements`."""
    retained_bytes: int | Unknown = DERIVED
    """Derived from the spans and those of `Adapter.holds`, each byte once."""
    waits_for: str = ""
    materialized_by: str | Unknown = NOT_RECORDED
    findings: tuple[Finding, ...] = ()
    layers_left_out: int = 0
    """Parts (blocks, chunks) that were not looked at because of a bound."""


def attribute(place: str, says: object) -> Evidence:
    """An attribute that was read: `attribute("x.base", "None")`. `says` must be a str, int, bool or None."""
    return Evidence("attribute", place, str(says))


def field(place: str, says: object) -> Evidence:
    """A field of the C struct that was read, nothing called."""
    return Evidence("field", place, str(says))


def of_type(name: str) -> Evidence:
    """The exact type alone says it."""
    return Evidence("type", "type(x)", name)


def recipe(
    what: str,
    waits_for: str,
    *evidence: Evidence,
    also: tuple[str, ...] = (),
    would_not: tuple[str, ...] = ("repr",),
    logical_bytes: int | Unknown = DERIVED,
) -> Told:
    """An object that only says how its elements are made: `waits_for` makes them, and so does `also`."""
    layer = Layer(
        "wrapper",
        what,
        value="lazy",
        storage="none",
        evidence=evidence,
        would=(waits_for, *also),
        would_not=would_not,
    )
    return Told((layer,), state="lazy", waits_for=waits_for, logical_bytes=logical_bytes)


def closed(what: str, *evidence: Evidence) -> Told:
    """An object whose handle is alive and whose data is gone."""
    return Told((Layer("wrapper", what, "closed", "none", evidence=evidence or (of_type(what),)),))


def told(what: str, waits_for: str, there: bool) -> Told:
    """An object that waits for something, or for nothing, and has bytes already, or not."""
    if not waits_for:
        return Told()
    if not there:
        return recipe(what, waits_for, of_type(what))
    layer = Layer("wrapper", what, "partial", evidence=(of_type(what),), would=(waits_for,))
    return Told((layer,), waits_for=waits_for)
