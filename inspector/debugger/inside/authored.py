"""Inside gdb: the author's own code behind a function that Cython, pybind11 or nanobind has generated.

The generated function is searched for the functions that it refers to, and those for theirs, until one is
the author's: in Cython `__pyx_pf_...` by its name, elsewhere code whose lines are in no header of the binding
or of C++.
"""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Callable, Iterator
from typing import Final

import gdb

from inspector.debugger.memory.exported import exported

_FUNCTIONS_MAX: Final = 300
WRAPPER, _BODY, _OF_CLASS = "__pyx_pw_", "__pyx_pf_", "__pyx_tp_"
_HEADERS: Final = re.compile(r"/(pybind11|nanobind|c\+\+/\d+|include/python3[^/]*|usr/lib/gcc)/")
_TARGET: Final = re.compile(r"(0x[0-9a-f]+) <([^>+]*)>")
"""In a call, and where the address of a function is taken: pybind11 passes functions on by reference."""
Fits = Callable[[gdb.Block], bool]


def authored(address: int) -> list[int] | None:
    """Where the author's code begins, the prologue included; None for a function that is none of a binding's,
    and where its library has no debug information."""
    block = function_at(address)
    if block is None:
        return None
    if _name(block).startswith((WRAPPER, _OF_CLASS)):
        return list(_searched(address, lambda one: _name(one).startswith(_BODY)))
    return None if _is_own(block) else list(_searched(address, _is_own))


def first_statement(address: int) -> int:
    """Where a Cython function's second line begins: what comes before is Cython's own; 0 for others.

    Declarations have that line too, before the first one comes again.
    """
    block = function_at(address)
    if block is None or not _name(block).startswith(_BODY):
        return 0
    rows = [one for one in gdb.find_pc_line(address).symtab.linetable() if address <= one.pc < block.end]
    rows.sort(key=lambda one: one.pc)
    first = min((one.line for one in rows), default=0)
    begins = [i for i, one in enumerate(rows) if i and one.line > first >= rows[i - 1].line]
    stays = [i for i in begins if rows[i + 1 :] and rows[i + 1].line > first]
    return rows[(stays or begins)[-1 if not stays else 0]].pc if begins else 0


def function_at(address: int) -> gdb.Block | None:
    """The block of the function, inlined or not, of an instruction; None without debug information."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return block


def _searched(address: int, fits: Fits) -> Iterator[int]:
    todo, later, seen, found = [address], list[int](), set[int](), False
    linked = exported(gdb.selected_inferior().pid, gdb.solib_name(address) or "")
    while (todo or (later and not found)) and len(seen) < _FUNCTIONS_MAX:
        at = todo.pop(0) if todo else later.pop(0)
        block = function_at(at)
        if at in seen or block is None or gdb.solib_name(at) != gdb.solib_name(address):
            continue
        seen.add(at)
        if at != address and fits(block):
            found = True
            yield at
            continue
        if not found and todo and _is_of_cpp(block) and at not in later:
            seen.discard(at)
            later.append(at)  # most are containers and smart pointers, which call nobody
            continue
        inlined, called = _of_function(block, fits, linked)
        if inlined:
            yield inlined
        elif not found:
            todo += called


def _of_function(block: gdb.Block, fits: Fits, linked: dict[str, int]) -> tuple[int, list[int]]:
    """The first instruction of the author's that was inlined, 0 for none; the functions referred to.

    `linked`: where the stubs of the linker lead in this library. gdb would ask every library for each name.
    """
    called: list[int] = []
    for one in gdb.selected_inferior().architecture().disassemble(block.start, block.end - 1):
        inner = function_at(one["addr"])
        if inner is not None and inner.start != block.start and fits(inner):
            return one["addr"], called
        if found := _TARGET.search(one["asm"]):
            target = int(found[1], 16)
            if found[2].endswith("@plt"):
                target = linked.get(found[2].removesuffix("@plt"), 0)
            if target and not block.start <= target < block.end:
                called.append(target)
    return 0, called


def _is_of_cpp(block: gdb.Block) -> bool:
    where = gdb.find_pc_line(block.start).symtab
    return where is not None and "/c++/" in where.fullname()


def _name(block: gdb.Block) -> str:
    return str(block.function.name) if block.function is not None else ""


def _is_own(block: gdb.Block) -> bool:
    where = gdb.find_pc_line(
        block.start
    ).symtab  # the function's own symtab is the file that includes its header
    return where is not None and not _HEADERS.search(where.fullname())
