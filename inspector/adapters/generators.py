"""Generators, coroutines, asynchronous generators: a recipe that is consumed by use."""

from __future__ import annotations

import gc
import types
from typing import TYPE_CHECKING, Any

from inspector.adapters.base import Defaults, type_name

if TYPE_CHECKING:
    from inspector.adapters.told import Told

_KINDS = {
    types.GeneratorType: ("gi_running", "next()"),
    types.CoroutineType: ("cr_running", "await"),
    types.AsyncGeneratorType: ("ag_running", "async for"),
}
"""Type -> what says that it runs now, and what takes a value from it."""


class Generators(Defaults):
    """The three types that CPython runs a suspended frame with; exact types only."""

    def types(self) -> tuple[type, ...]:
        """Generator, coroutine, asynchronous generator."""
        return tuple(_KINDS)

    def self_test(self) -> None:
        """A finished generator has no frame."""
        made = (i for i in "")
        before = _has_frame(made)
        if next(made, None) is not None or (before, _has_frame(made)) != (True, False):
            raise ValueError("the gc does not tell whether a generator has a frame")

    def layers(self, x: Any) -> Told:
        """lazy while its frame can go on, pending while it runs, consumed when the frame is gone."""
        from inspector.adapters.told import Layer, Told, attribute, field

        running, use = _KINDS[type(x)]
        runs, exists = getattr(x, running), _has_frame(x)
        layer = Layer(
            "wrapper",
            type_name(type(x)),
            value="pending" if runs else "lazy" if exists else "consumed",
            storage="none",
            evidence=(field("frame", "there" if exists else "gone"), attribute(f"x.{running}", runs)),
            would=(use,) if exists else (),
            would_not=("repr", "inspect.getgeneratorstate"),
        )
        return Told((layer,), waits_for=use if exists else "")


def _has_frame(x: Any) -> bool:
    """Whether the frame is there: it refers to its function. `gi_frame` would make a frame object."""
    return any(type(held) is types.FunctionType for held in gc.get_referents(x))


ADAPTER = Generators()
