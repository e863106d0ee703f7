"""concurrent.futures: futures with a pending result."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any, ClassVar

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute


class FuturesPending(Adapter):
    """Exact Future; reads its state without its lock."""

    library = "concurrent"
    exact: ClassVar[tuple[str, ...]] = ("futures._base.Future",)
    values: ClassVar[dict[str, Any]] = {"PENDING": "lazy", "RUNNING": "pending", "FINISHED": "computed"}
    """The library's state -> our value; a cancelled future is closed."""

    def self_test(self) -> None:
        """A new future is PENDING, one with a result FINISHED."""
        made = sys.modules["concurrent.futures._base"].Future()
        before = _state(made)
        made.set_result(1)
        if (before, _state(made)) != ("PENDING", "FINISHED"):
            raise ValueError("Future._state does not say whether it is done")

    def layers(self, x: Any) -> Told:
        """lazy, pending or computed; closed if cancelled."""
        state, kind = _state(x), type_name(type(x))
        value: Any = self.values.get(state, "closed")
        waits = self.wakes(x) if value in ("lazy", "pending") else ""
        idle = ("done()", "repr") if waits else ()
        seen = (attribute("x._state", state),)
        storage: Any = "heap" if value == "computed" else "none"
        layer = Layer("wrapper", kind, value, storage, "owned", seen, (waits,) if waits else (), idle)
        return Told((layer,), waits_for=waits, in_words=_ended(x) if value == "computed" else "")

    def wakes(self, x: Any) -> str:
        """What waits until the result is there."""
        return "result()"


def has_ended(x: Any) -> bool:
    """Whether a future has its result, or its exception; reads no lock."""
    return _state(x) == "FINISHED"


def outcome(x: Any) -> tuple[str, Any]:
    """(attribute, value) of what a finished future keeps: its exception, or its result."""
    found = object.__getattribute__(x, "_exception")
    return ("_result", object.__getattribute__(x, "_result")) if found is None else ("_exception", found)


def _ended(x: Any) -> str:
    """How a finished future ended."""
    name, value = outcome(x)
    return "Done." if name == "_result" else f"Ended with {type_name(type(value)).rpartition('.')[2]}."


def _state(x: Any) -> str:
    return str(object.__getattribute__(x, "_state"))


ADAPTER = FuturesPending()
