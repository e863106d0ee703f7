"""mmap.mmap: a mapping that counts its exports and cannot be closed while there are any."""

# SPDX-License-Identifier: MIT
import mmap
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements
from inspector.adapters.language import asked, count_follows
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.facts.unknown import Unknown


class MmapFiles(Adapter):
    """Exact mmap.mmap; a closed one has no bytes."""

    library = "mmap"
    exact = ("mmap",)

    def self_test(self) -> None:
        """The export count follows a memoryview."""
        with mmap.mmap(-1, mmap.PAGESIZE) as memory:
            count_follows(memory)

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """The mapped bytes."""
        return asked(x)

    def exports(self, x: Any) -> int | Unknown:
        """From the C struct."""
        return _native.exports(x)

    def layers(self, x: Any) -> Told:
        """A closed one maps nothing; `close()` fails while there are exports."""
        if x.closed:
            return Told(
                (Layer("wrapper", "mmap", "closed", "none", evidence=(attribute("x.closed", True),)),)
            )
        exports = _native.exports(x)
        would = ("close(): BufferError",) if exports else ()
        return Told((Layer("wrapper", "mmap", evidence=(field("exports", exports),), would=would),))


ADAPTER = MmapFiles()
