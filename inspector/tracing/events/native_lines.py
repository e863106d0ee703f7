"""An address of native code as its symbol and its source line, for the facts of the ledger."""

# SPDX-License-Identifier: MIT
from inspector import _native
from inspector.binaries.addresses import place
from inspector.binaries.line_table import source_file, source_line
from inspector.facts.unknown import Unknown


def native_line(address: int, begins: bool = False) -> tuple[str | Unknown, str | Unknown]:
    """Symbol and source line of an address of code; `begins`: the line where its function begins."""
    spot, image = place(address), _native.image(address)
    if image is None or isinstance(spot.library, Unknown):
        return spot.symbol, Unknown("in no loaded file")
    return spot.symbol, source_line(spot.library, address - image[1], begins=begins)


def native_file(address: int, line: str | Unknown) -> str:
    """The path of the source file whose `line`, "heldmod.c:14", an address has; "" if it is not at hand."""
    spot, image = place(address), _native.image(address)
    if image is None or isinstance(spot.library, Unknown) or not isinstance(line, str):
        return ""
    name = line.partition(" ")[0].rpartition(":")[0]  # of Cython's two the .pyx
    return source_file(spot.library, address - image[1], name)
