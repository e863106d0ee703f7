"""Inside gdb: the breakpoints of an editor, and those that stop once in one thread."""

# SPDX-License-Identifier: MIT
import contextlib
import operator
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import gdb

from inspector.debugger.inside.authored import authored, first_statement
from inspector.debugger.inside.collecting import Collection, PlaceBreakpoint
from inspector.debugger.inside.method_tables import rows
from inspector.debugger.inside.thrown import thrown

_BRACES: Final = re.compile(r"\{([^{}]+)\}")
_PLACE: Final = re.compile(r'-source "(.*)" -line (\d+)')
_LINE: Final = r"\1:\2"
_OWN: Final = ("/debugpy/", "/pydevd")
"""In the path of a Python file: the thread is the debugger's own."""


class Reached(NamedTuple):
    """Why a thread stops: the editor's numbers of its breakpoints, and how its arguments are read."""

    numbers: tuple[int, ...]
    pc: int
    flags: int = 0
    """METH_... where the place is a method's first instruction; 0 otherwise."""
    prototype: str = ""
    says: str = ""
    """What a write changed, and who wrote."""
    fault: str = ""
    """The exception of C++ that is thrown here."""

    @property
    def stays(self) -> bool:
        """Whether the user asked for this place; else it is the end of a step."""
        return bool(self.numbers or self.fault)


Note = Callable[[int, Reached], None]
_BRANCHES: Final = ("j", "b", "cb", "tb", "ret")
"""How the instructions of x86-64 and aarch64 that lead elsewhere begin."""
_STOPS: Final[dict[str, Callable[[int, int], bool]]] = {
    "": lambda hits, number: True,
    "%": lambda hits, number: hits % number == 0,
    **{"==": operator.eq, ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt},
}
_CELL_MODULE: Final = "inspector_c_"


class Placed(PlaceBreakpoint):
    """One breakpoint of gdb's for a breakpoint of the editor."""

    def __init__(self, wanted: "Wanted", spec: str, flags: int = 0) -> None:
        self.wanted, self.flags = wanted, flags
        super().__init__(wanted.collection, {**wanted.place, "place": spec, "spec": spec})

    def leave_out_stubs(self) -> None:
        """Disable linker stubs, and functions of other libraries where one was named."""
        super().leave_out_stubs()
        library = self.wanted.place.get("library", "").removesuffix(".so")
        if "cell" in self.wanted.place:
            self._leave_out_cells(self.wanted.place["cell"])
        for location in self.locations if library and not self.pending else ():
            file = os.path.basename(gdb.solib_name(location.address) or "")  # noqa: PTH119
            if file.partition(".")[0] != library.partition(".")[0] and location.enabled:
                location.enabled = False

    def _leave_out_cells(self, text: str) -> None:
        """Disable other `%%inspect_c` cells: each one's file is called `cell`."""
        for location in self.locations if not self.pending else ():
            with contextlib.suppress(OSError, TypeError):
                if Path(location.fullname).read_text().strip() != text.strip() and location.enabled:
                    location.enabled = False

    def stop(self) -> bool:
        """gdb calls this at each hit; False continues the program."""
        told = self.says
        if (not super().stop() and self.says == told) or of_the_debugger(self.collection):
            return False
        place = self.wanted.place
        if self.says != told:  # from now on it stops like one without a condition
            self.only_if = ""
            self.wanted.say(f"{self.says} ({_PLACE.sub(_LINE, self.typed)})")
        elif not at_hit(self.hits, place):
            return False
        if place.get("log"):
            self.wanted.say(_BRACES.sub(_evaluated, place["log"]))
            return False
        reached = Reached((self.wanted.number,), gdb.newest_frame().pc(), self.flags, place["prototype"])
        if place.get("throws"):
            reached = Reached((), reached.pc, fault=thrown(self.collection.reader.memory))
        self.wanted.note(gdb.selected_thread().ptid[1], reached)
        return True


def at_hit(hits: int, place: dict[str, Any]) -> bool:
    """Whether a place stops at this of its hits (dap/hit_counts.py)."""
    how, number = place.get("hits", ("", 0))
    return _STOPS[how](hits, number)


def of_the_debugger(collection: Collection) -> bool:
    """Whether debugpy's own Python runs in the selected thread."""
    stack = collection.reader.stack(gdb.selected_thread().ptid[1], 0, "python")
    return bool(stack.frames) and any(own in str(stack.frames[0].library) for own in _OWN)


def _evaluated(found: re.Match[str]) -> str:
    try:
        return str(gdb.parse_and_eval(found[1]))
    except gdb.error as error:
        return f"{{{found[1]}: {error}}}"


class Wanted:
    """A breakpoint of the editor: one of gdb's, or one for each method of that name."""

    def __init__(
        self, collection: Collection, place: dict[str, Any], note: Note, say: Callable[[str], None]
    ) -> None:
        self.collection, self.place, self.note, self.say = collection, place, note, say
        self.number: int = place["number"]
        self.placed: list[Placed] = []
        self.refused = ""
        self.plant()

    def plant(self) -> bool:
        """Set it, where that is possible by now; True where that is new."""
        if self.placed:
            return False
        try:
            if self.place["spec"]:
                self.placed = [Placed(self, self.place["spec"])]
            else:
                for row in rows(self.collection.reader.memory, self.place["dotted"]):
                    spec, flags = at_entry(row.address), row.flags
                    self.placed.append(Placed(self, spec, 0 if spec != f"*{row.address:#x}" else flags))
        except (gdb.error, RuntimeError) as error:
            self.refused = str(error)
        return bool(self.placed)

    def told(self) -> dict[str, Any]:
        """Whether it is in place, and the line that gdb took."""
        placed = [one for one in self.placed if one.is_valid() and not one.pending]
        locations = [where for one in placed for where in one.locations if where.enabled]
        lines = [where.source[1] for where in locations if where.source]
        line = {"line": lines[0]} if lines else {}
        return {"number": self.number, "verified": bool(locations), "refused": self.refused, **line}

    def delete(self) -> None:
        """Remove it."""
        for one in self.placed:
            if one.is_valid():
                one.delete()


class Once(gdb.Breakpoint):
    """Stops one thread at a function's entry; all of a thread's go when one is reached."""

    def __init__(self, thread: int, spec: str, flags: int, note: Note) -> None:
        super().__init__(spec, internal=True)
        self.silent = True
        self.of_thread, self._note, self._flags = thread, note, flags

    def stop(self) -> bool:
        """Whether the thread is the one that was asked for."""
        if gdb.selected_thread().ptid[1] != self.of_thread:
            return False
        self._note(self.of_thread, Reached((), gdb.newest_frame().pc(), self._flags))
        return True


def entered(entry: dict[str, Any]) -> list[tuple[str, int]]:
    """Where to stop for a function that a Python line will call, and its METH_ flags where it is its first
    instruction: in the author's code, where a binding's own function comes before it."""
    address = of_cell(entry.get("name", ""), entry["address"])
    own = authored(address)
    found = [at_entry(one) for one in ([address] if own is None else own) if gdb.solib_name(one)]
    return [(spec, entry["flags"] if spec == f"*{entry['address']:#x}" else 0) for spec in found]


def at_entry(address: int) -> str:
    """Where to stop at a function: after its prologue where lines are known, else at its beginning."""
    found = gdb.find_pc_line(address)
    block = gdb.block_for_pc(address)
    if found.symtab is None or not found.line or block is None:
        return f"*{address:#x}"
    if first := first_statement(address):
        return f"*{first:#x}"
    while block.function is None and block.superblock is not None:
        block = block.superblock
    rows_inside = (one.pc for one in found.symtab.linetable() if one.line and address < one.pc < block.end)
    second = min(rows_inside, default=address)
    return f"*{address if _jumps(block, address, second) else second:#x}"


def other_lines(frame: gdb.Frame) -> list[int]:
    """Where the other lines of a frame's function begin; [] where its lines are not known."""
    here = frame.find_sal()
    if not here.line:
        return []
    block = frame.block()
    while block.function is None and block.superblock is not None:
        block = block.superblock
    rows = [one for one in here.symtab.linetable() if one.line and block.start <= one.pc < block.end]
    return sorted({one.pc for one in rows if one.line != here.line})


def _jumps(block: gdb.Block, start: int, end: int) -> bool:
    """Whether code between may lead elsewhere: an optimised function has no prologue, and branches early."""
    code = gdb.selected_inferior().architecture().disassemble(start, max(start, end - 1))
    return any(one["asm"].startswith(_BRANCHES) and not one["asm"].startswith("bti") for one in code)


def of_cell(name: str, address: int) -> int:
    """The function that a `%%inspect_c` cell has, where `address` is what its module's table calls it by."""
    file = gdb.solib_name(address) or ""
    if not os.path.basename(file).startswith(_CELL_MODULE):  # noqa: PTH119
        return address
    library = gdb.lookup_objfile(file)
    found = library.lookup_global_symbol(name) if library is not None else None
    at = found.value().address if found is not None else None
    return int(at) if at is not None else address


class Out(gdb.FinishBreakpoint):
    """Stops where a frame returns to: on the way from C to the Python line that called it."""

    def __init__(self, frame: gdb.Frame) -> None:
        super().__init__(frame, internal=True)
        self.silent = True
