"""Read R's objects from memory: the header of any SEXPREC.

Offsets are those of R 4 (src/include/Defn.h): an 8-byte sxpinfo, attrib, two gc links, then either three
pointers (pairlists, symbols, ALTREP) or length, true length and the elements.
"""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from typing import Any

from inspector import _native
from inspector.facts.record import dataclass

_NAMES = """NILSXP SYMSXP LISTSXP CLOSXP ENVSXP PROMSXP LANGSXP SPECIALSXP BUILTINSXP CHARSXP LGLSXP - -
INTSXP REALSXP CPLXSXP STRSXP DOTSXP - VECSXP EXPRSXP BCODESXP EXTPTRSXP WEAKREFSXP RAWSXP S4SXP"""
TYPES = dict(enumerate(_NAMES.split()))
"""SEXPTYPE numbers (R internals, section 1.1)."""
ITEM_BYTES = {10: 4, 13: 4, 14: 8, 15: 16, 16: 8, 19: 8, 20: 8, 24: 1}
DATA = 48
"""Elements of a plain vector begin here."""
NOT_MUTABLE = 0xFFFF
NIL, SYMBOL, PAIRLIST, CLOSURE, ENVIRONMENT, PROMISE, CALL, LIST, POINTER = 0, 1, 2, 3, 4, 5, 6, 19, 22
"""SEXPTYPE numbers used here."""
SLOTS_MAX, STEPS_MAX, PAIRS_MAX = 4096, 8, 1_000
"""Most slots of a hash table, most bindings in one of its chains, most cells of a pairlist."""


@dataclass(frozen=True, slots=True)
class Header:
    """A SEXPREC's first seven words."""

    address: int
    type: int
    altrep: bool
    references: int
    attributes: int
    first: int
    """Length of a plain vector, CAR of a pairlist, data1 of an ALTREP."""
    second: int
    """CDR of a pairlist, data2 of an ALTREP."""
    third: int
    """TAG of a pairlist, class of an ALTREP."""


def header(address: int) -> Header | None:
    """The header of the R object at an address; None if it cannot be read."""
    raw = _native.read(address, 56)
    if raw is None:
        return None
    word, attributes, _, _, first, second, third = struct.unpack("7Q", raw)
    return Header(
        address, word & 31, bool(word >> 7 & 1), word >> 32 & 0xFFFF, attributes, first, second, third
    )


def references_text(head: Header) -> str:
    """REF, and whether R copies before a write."""
    if head.references == NOT_MUTABLE:
        return f"{head.references}: not mutable, R copies before it writes"
    return f"{head.references}{', R copies before it writes' if head.references > 1 else ''}"


def symbol_name(address: int) -> str:
    """A symbol's name, from the CHARSXP that it is printed as; "" of a missing argument, "?" of no symbol."""
    symbol = header(address)
    name = header(symbol.first) if symbol is not None and symbol.type == 1 else None
    if name is None or name.type != 9:
        return "?"
    raw = _native.read(name.address + DATA, min(name.first, 200))
    return "?" if raw is None else raw.decode("utf-8", "replace")


def logical(address: int) -> str | None:
    """TRUE, FALSE or NA of a logical vector of one; None for anything else."""
    found = header(address)
    raw = (
        _native.read(address + DATA, 4)
        if found is not None and (found.type, found.first) == (10, 1)
        else None
    )
    return None if raw is None else {0: "FALSE", 1: "TRUE"}.get(int.from_bytes(raw, "little"), "NA")


def bound(environment: Header, name: str) -> Header | None:
    """The value a name is bound to, in the frame or the hash table."""
    cells = _cells(environment, SLOTS_MAX, STEPS_MAX)
    return next((header(cell.first) for cell in cells if symbol_name(cell.third) == name), None)


def _cells(environment: Header, slots: int, steps: int) -> Iterator[Header]:
    """The bindings of an environment: of its frame, and of the chains of its hash table."""
    chains = [environment.first]
    table = header(environment.third)
    if table is not None and table.type == LIST:
        raw = _native.read(table.address + DATA, 8 * min(table.first, slots)) or b""
        chains += memoryview(raw).cast("Q").tolist()
    for chain in chains:
        cell = header(chain)
        for _ in range(steps):
            if cell is None or cell.type != PAIRLIST:
                break
            yield cell
            cell = header(cell.second)


def pairs(address: int) -> Iterator[Header]:
    """The cells of a pairlist or a call, at most PAIRS_MAX."""
    cell = header(address)
    for _ in range(PAIRS_MAX):
        if cell is None or cell.type not in (PAIRLIST, CALL):
            return
        yield cell
        cell = header(cell.second)


_na: list[int] = []
"""R's NA_STRING, once it is known."""


def text_of_na() -> int:
    """Address of the C text of `NA_character_`, a single object; 0 if no R runs in this process."""
    import ctypes

    if not _na and (libr := _libr()):
        found = ctypes.c_void_p.in_dll(libr, "R_NaString").value
        _na.extend([found] if found else ())
    return _na[0] + DATA if _na else 0


def _libr() -> Any:
    """The R in this process, to be called with the GIL held; None where there is none."""
    import ctypes
    import os

    try:
        return ctypes.PyDLL("libR.so", mode=os.RTLD_NOLOAD)
    except OSError:
        return None


def _is_main_thread() -> bool:
    """R has one thread; this one is taken for it."""
    import threading

    return threading.current_thread() is threading.main_thread()


def console_width() -> int:
    """`getOption("width")` of the R in this process; 0 in other threads."""
    libr = _libr() if _is_main_thread() else None
    return int(libr.Rf_GetOptionWidth()) if libr else 0


def libr_function(name: str, any_thread: bool = False) -> Any:
    """A function of the R in this process that takes an object and gives a word; None in other threads.

    `any_thread`: the caller knows that no other thread is in R.
    """
    import ctypes

    found = getattr(_libr(), name, None) if any_thread or _is_main_thread() else None
    if found is not None:
        found.restype, found.argtypes = ctypes.c_ssize_t, (ctypes.c_void_p,)
    return found


def bindings(environment: Header) -> Iterator[tuple[str, int]]:
    """(name, address of the value) of an environment; of a promise that was forced, its value."""
    for cell in _cells(environment, 1 << 32, 1 << 32):
        value = header(cell.first)
        is_promise = value is not None and value.type == PROMISE
        yield symbol_name(cell.third), value.first if is_promise and value else cell.first
