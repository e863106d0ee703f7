"""Futures of concurrent.futures: a result that is waited for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from inspector.adapters.base import Defaults

if TYPE_CHECKING:
    from inspector.adapters.told import Told

VALUES = {"PENDING": "lazy", "RUNNING": "pending", "FINISHED": "computed"}


class FuturesPending(Defaults):
    """Exact Future; its state is read without its lock."""

    library = "concurrent"

    def types(self) -> tuple[type, ...]:
        """concurrent.futures.Future."""
        return (sys.modules["concurrent.futures._base"].Future,)

    def self_test(self) -> None:
        """A fresh one is PENDING, one with a result FINISHED."""
        made = self.types()[0]()
        before = _state(made)
        made.set_result(1)
        if (before, _state(made)) != ("PENDING", "FINISHED"):
            raise ValueError("Future._state does not say whether it is done")

    def layers(self, x: Any) -> Told:
        """lazy, pending, computed; cancelled ones are closed."""
        from inspector.adapters.told import Layer, Told, attribute

        state = _state(x)
        value: Any = VALUES.get(state, "closed")
        waits = "result()" if value in ("lazy", "pending") else ""
        idle = ("done()", "repr") if waits else ()
        seen = (attribute("x._state", state),)
        storage: Any = "heap" if value == "computed" else "none"
        layer = Layer("wrapper", "Future", value, storage, "owned", seen, (waits,) if waits else (), idle)
        return Told((layer,), waits_for=waits)


def _state(x: Any) -> str:
    return str(object.__getattribute__(x, "_state"))


ADAPTER = FuturesPending()
