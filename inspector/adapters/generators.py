"""Generators, coroutines, asynchronous generators: recipes that use consumes."""

# SPDX-License-Identifier: MIT
import functools
import types
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute, field

_KINDS = {
    types.GeneratorType: ("gi_running", "next()"),
    types.CoroutineType: ("cr_running", "await"),
    types.AsyncGeneratorType: ("ag_running", "async for"),
}
"""Type -> the attribute that tells whether it runs now, and the call that takes a value from it."""
_OFFSETS = (object.__basicsize__ + 51, object.__basicsize__ + 59)
"""Of gi_frame_state: from 3.12 on, and in 3.11 (Include/cpython/genobject.h, _PyGenObject_HEAD)."""


class Generators(Adapter):
    """The three types with a suspended frame; exact types only."""

    def types(self) -> tuple[type, ...]:
        """Generator, coroutine, asynchronous generator."""
        return tuple(_KINDS)

    def self_test(self) -> None:
        """The struct tells a new, a finished and a closed generator apart."""
        if not _offset()[0]:
            raise ValueError("gi_frame_state is not where it was in the struct of a generator")

    def layers(self, x: Any) -> Told:
        """lazy while its frame can continue, pending while it runs, consumed after the frame has ended."""
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
    """Whether its frame can continue or runs now. `gi_frame` would create a frame object; the gc does not
    tell: a generator closed before it began keeps its references (3.13)."""
    offset, completed = _offset()
    return _state(x, offset) < completed


def _state(x: Any, offset: int) -> int:
    return int.from_bytes(_native.read(id(x) + offset, 1) or b"", "little", signed=True)


@functools.cache
def _offset() -> tuple[int, int]:
    """Offset of gi_frame_state, and the least state of a frame that has ended; 0 if no known layout gives the
    expected answers. The numbers of enum _framestate (internal/pycore_frame.h) changed in 3.15."""
    fresh, suspended, finished, closed = ((i for i in "ab") for _ in range(4))
    next(suspended)
    list(finished)
    closed.close()
    for offset in _OFFSETS:
        states = [_state(one, offset) for one in (fresh, suspended, finished, closed)]
        if states[0] < states[1] < min(states[2:]):
            return offset, min(states[2:])
    return 0, 0


ADAPTER = Generators()
