"""array.array: owns its items and counts its exports."""

# SPDX-License-Identifier: MIT
import array
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements
from inspector.adapters.language import asked, count_follows
from inspector.facts.unknown import Unknown


class ArrayItems(Adapter):
    """Exact array.array; taking its buffer has no side effects."""

    library = "array"
    exact = ("array",)

    def self_test(self) -> None:
        """The export count follows a memoryview."""
        count_follows(array.array("d", [1.0]))

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its items."""
        return asked(x)

    def exports(self, x: Any) -> int | Unknown:
        """From the C struct."""
        return _native.exports(x)


ADAPTER = ArrayItems()
