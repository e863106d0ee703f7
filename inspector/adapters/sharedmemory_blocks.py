"""multiprocessing.shared_memory: a named block that several processes map."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.adapters.base import Defaults, Elements
from inspector.adapters.language import asked

if TYPE_CHECKING:
    from inspector.adapters.told import Told


class SharedMemoryBlocks(Defaults):
    """Exact SharedMemory; after close() it has no buffer."""

    library = "multiprocessing"
    exact = ("shared_memory.SharedMemory",)

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """The mapped bytes."""
        buffer = object.__getattribute__(x, "_buf")
        return asked(buffer) if buffer is not None else ()

    def layers(self, x: Any) -> Told:
        """closed after close(); the object does not know whether its name was unlinked."""
        from inspector.adapters.told import Layer, Told, attribute

        closed = object.__getattribute__(x, "_buf") is None
        seen = (attribute("x._buf", "None" if closed else "a memoryview"),)
        value: Any = "closed" if closed else "computed"
        return Told(
            (Layer("wrapper", "SharedMemory", value, "none" if closed else "shared-memory", evidence=seen),)
        )


ADAPTER = SharedMemoryBlocks()
