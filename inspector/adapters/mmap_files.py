"""mmap.mmap: a mapping that counts its exports and cannot be closed while there are any."""

# SPDX-License-Identifier: MIT
import mmap
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements
from inspector.adapters.beyond import Beyond
from inspector.adapters.language import asked, count_follows
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.binaries.mappings import name_at
from inspector.facts.amounts import size
from inspector.facts.unknown import Unknown

_OUTLIVES = "{} of shared memory go when no process maps them and their name is gone"


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

    def beyond(self, x: Any, found: Beyond) -> None:
        """The memory that it maps, unless a file has it: pages of a file are the system's."""
        for block in self.elements(x):
            start, stop = block.range.start, block.range.stop
            name = name_at(start)
            if name.startswith(("/dev/shm/", "/memfd:")):
                found.why = _OUTLIVES.format(size(stop - start))
            elif not name or name.startswith("/dev/zero"):
                found.add_block(id(x), start, stop - start, "memory that mmap mapped")

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
