"""The lazy vectors of inspector.lazy: reads their fields; inspecting computes nothing."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector._native import LazyVector
from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, field
from inspector.facts.amounts import counted
from inspector.facts.materialization import NOT_RECORDED
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown

USES = ("np.sort", "np.asarray", "memoryview", "cumsum")
USES_NOT = ("len", "x[i]", "x[:5]", "np.mean", "np.abs", "repr")
WORDS = {"filling": "pending", "materialized": "computed"}


class InspectorLazy(Adapter):
    """inspector.lazy.Vector and its subclasses, which have the same C struct."""

    library = "inspector"

    def families(self) -> tuple[type, ...]:
        """LazyVector."""
        return (LazyVector,)

    def owns(self, x: Any) -> bool | Unknown:
        """Its data2, if it exists."""
        return True

    def exports(self, x: Any) -> int | Unknown:
        """Buffers of data2 that consumers hold."""
        count: int = _field(x, "exports")
        return count

    def layers(self, x: Any) -> Told:
        """The recipe, and data2 if it is materialized."""
        done, blocks = _field(x, "blocks")
        state = _field(x, "state")
        value: Any = WORDS.get(state, "partial" if done else "lazy")
        seen = (field("state", state), field("blocks", f"{done} of {blocks}"))
        recipe = Layer(
            "wrapper",
            f"{type_name(type(x))} lazy({_field(x, 'recipe')})",
            value,
            "heap" if _field(x, "data2") else "none",
            evidence=seen,
            would=() if value == "computed" else USES,
            would_not=USES_NOT,
        )
        waits = "" if value == "computed" else " or ".join(USES[:2])
        layers, size = (recipe, *_result(x, done)), _field(x, "nbytes")
        return Told(layers, logical_bytes=size, waits_for=waits, materialized_by=_by(x))


def _result(x: Any, done: int) -> tuple[Layer, ...]:
    """data2: where the elements are written."""
    if not _field(x, "data2"):
        return ()
    address, holders, start, size = _field(x, "data2")
    if not size:
        return ()
    span = Range(Address(start or address), Address((start or address) + size))
    shared = holders > 1
    return (
        Layer(
            "buffer",
            f"data2, {counted(holders, 'holder')}",
            "computed" if _field(x, "state") == "materialized" else "partial",
            title="cow" if shared else "owned",
            evidence=(field("data2", f"{address:#x}"),),
            would=("a write copies",) if shared else (),
            spans=(span,),
            depth=1,
        ),
    )


def _by(x: Any) -> str | Unknown:
    for kind, cause, _, _, line, cell, size, ns in reversed(_field(x, "events")):
        if kind == "materialize" and cause:
            where = f"cell {cell}:{line}, " if cell >= 0 else ""
            return f"{cause}, {where}{size:,} B, {ns / 1000:.0f} µs"
    return NOT_RECORDED


def _field(x: Any, name: str) -> Any:
    """A field of the C struct: a subclass may hide the attribute under its own."""
    return LazyVector.__dict__[name].__get__(x)


ADAPTER = InspectorLazy()
