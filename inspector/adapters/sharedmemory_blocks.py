"""multiprocessing.shared_memory: a named block that several processes map."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector.adapters.base import Adapter, Elements
from inspector.adapters.language import asked
from inspector.adapters.told import Layer, Told, attribute


class SharedMemoryBlocks(Adapter):
    """Exact SharedMemory; after close() it has no buffer."""

    library = "multiprocessing"
    exact = ("shared_memory.SharedMemory",)

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """The mapped bytes."""
        buffer = object.__getattribute__(x, "_buf")
        return asked(buffer) if buffer is not None else ()

    def layers(self, x: Any) -> Told:
        """closed after close(); the object does not know whether its name was unlinked."""
        closed = object.__getattribute__(x, "_buf") is None
        seen = (attribute("x._buf", "None" if closed else "a memoryview"),)
        value: Any = "closed" if closed else "computed"
        return Told(
            (Layer("wrapper", "SharedMemory", value, "none" if closed else "shared-memory", evidence=seen),)
        )


ADAPTER = SharedMemoryBlocks()
