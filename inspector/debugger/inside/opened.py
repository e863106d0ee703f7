"""Inside gdb: variables of a native frame as rows of an editor, which open until the thread goes on."""

# SPDX-License-Identifier: MIT
import contextlib
import importlib
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import gdb

from inspector.debugger.inside.method_tables import FASTCALL, KEYWORDS, NOARGS
from inspector.debugger.inside.native_values import NativeValues, Variable, is_object, symbols
from inspector.debugger.presets.prototypes import Prototype
from inspector.facts.stack import Argument
from inspector.facts.unknown import Unknown

ITEMS_MAX: Final = 200
_PRINTERS: Final = "/usr/share/gcc/python"
"""Where Debian's and Fedora's libstdc++ have their printers for gdb."""
_ARGUMENTS_MAX: Final = 64
_SCALARS: Final = (
    gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_ENUM,
    gdb.TYPE_CODE_PTR,
)  # fmt: skip
_OF_AUTHOR: Final = "__pyx_v_"
_WORD: Final = (1 << 64) - 1
_OPEN: Final = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY)
_CLOSED: Final = (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR)

Row = dict[str, Any]
"""name, type and value; `ref` where it opens, `object` where it is the address of a Python object."""


class Opened:
    """The values that rows refer to."""

    def __init__(self) -> None:
        self._values: dict[int, gdb.Value] = {}
        self._last = 0

    def forget(self) -> None:
        """A thread goes on: values of before cannot be opened any more."""
        self._values.clear()

    def of_frame(self, read: NativeValues, frame: gdb.Frame) -> list[Row]:
        """Arguments and variables of a frame with debug information."""
        return [self._row(read, one) for one in _authors([*symbols(frame, True), *symbols(frame, False)])]

    def children(self, read: NativeValues, ref: int) -> list[Row]:
        """What a value has inside."""
        return [self._row(read, one) for one in _children(self._values[ref])]

    def inside_of(self, ref: int, name: str) -> Row:
        """The bytes of one of the rows that a value opens to. Raises LookupError."""
        return range_of(self.child(ref, name))

    def child(self, ref: int, name: str) -> gdb.Value | Unknown:
        """One of the values that a value opens to. Raises StopIteration."""
        return next(one.value for one in _children(self._values[ref]) if one.name == name)

    def evaluated(self, read: NativeValues, expression: str) -> Row:
        """A C expression in the selected frame. Raises gdb.error."""
        return self.row(read, expression, valued(expression))

    def row(self, read: NativeValues, name: str, value: gdb.Value | Unknown) -> Row:
        """A value as a row."""
        kind = "" if isinstance(value, Unknown) else str(value.type)
        return self._row(read, Variable(name, kind, value))

    def _row(self, read: NativeValues, one: Variable) -> Row:
        row: Row = {"name": one.name, "type": one.type_name}
        if isinstance(one.value, Unknown):
            return {**row, "value": one.value.reason}
        said = read.text(one.value)
        row["value"] = said.reason if isinstance(said, Unknown) else said
        if one.value.is_optimized_out:
            return row
        if is_object(one.value.type) and not isinstance(said, Unknown):
            row["object"] = int(one.value) & _WORD
        elif _opens(one.value.type.strip_typedefs()):
            self._last += 1
            self._values[self._last] = one.value
            row["ref"] = self._last
        return row


def _opens(kind: gdb.Type) -> bool:
    if kind.code == gdb.TYPE_CODE_PTR:
        return kind.target().strip_typedefs().code not in _CLOSED
    return kind.code in _OPEN


def know_cpp() -> None:
    """Let gdb show libstdc++'s strings and containers by their contents, where its printers are installed."""
    if _PRINTERS not in sys.path:
        sys.path.append(_PRINTERS)
        with contextlib.suppress(ImportError, gdb.error, RuntimeError):
            importlib.import_module("libstdcxx.v6").register_libstdcxx_printers(None)


def _children(value: gdb.Value) -> Iterator[Variable]:
    kind = value.type.strip_typedefs()
    printer = gdb.default_visualizer(value) if kind.code in _OPEN else None
    if printer is not None and hasattr(printer, "children"):
        for name, one in islice(printer.children(), ITEMS_MAX):
            item = one if isinstance(one, gdb.Value) else gdb.Value(one)
            yield Variable(name, str(item.type), item)
        return
    if kind.code == gdb.TYPE_CODE_PTR:
        target = kind.target().strip_typedefs()
        if target.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            yield from _children(value.dereference())
        else:
            yield Variable("*", str(kind.target()), value.dereference())
    elif kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        for i in range(first, min(last + 1, first + ITEMS_MAX)):
            yield Variable(f"[{i}]", str(kind.target()), value[i])
    else:
        for field in kind.fields():
            yield Variable(field.name or "(base)", str(field.type), value[field])


def _authors(found: list[Variable]) -> list[Variable]:
    """In a function of Cython the variables of its author, by their names; all of another function."""
    own = [one._replace(name=one.name.removeprefix(_OF_AUTHOR)) for one in found if _OF_AUTHOR in one.name]
    return own or found


def valued(expression: str) -> gdb.Value:
    """A C expression, or a variable of Cython by its author's name. Raises gdb.error."""
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error:
        if not expression.isidentifier():
            raise
        try:
            return gdb.parse_and_eval(_OF_AUTHOR + expression)
        except gdb.error:
            pass
        raise


def assigned(value: gdb.Value, wanted: str) -> None:
    """Give a C scalar another value, an expression of the selected frame. Raises ValueError, gdb.error."""
    kind = value.type.strip_typedefs()
    if kind.code not in _SCALARS or is_object(kind):
        raise ValueError("only numbers, enums and pointers of C can be set here")
    if value.address is None:
        raise ValueError("it is in a register, or computed")
    gdb.set_convenience_variable("inspector_new", gdb.parse_and_eval(wanted).cast(value.type))
    gdb.set_convenience_variable("inspector_at", value.address)
    gdb.parse_and_eval("*$inspector_at = $inspector_new")


def range_of(value: gdb.Value | Unknown) -> Row:
    """Address, length, and struct's format letter of a value in memory. Raises ValueError with the reason."""
    if isinstance(value, Unknown):
        raise ValueError(value.reason)
    if value.address is None:
        raise ValueError("it has no memory: it is in a register, or computed")
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        kind = kind.target().strip_typedefs()
    letter = "O" if is_object(kind) else _letter(kind)
    return {"address": int(value.address), "bytes": int(value.type.sizeof), "letter": letter}


def _letter(kind: gdb.Type) -> str:
    """struct's format letter of a C number; "" for others, which are shown as words."""
    if kind.code == gdb.TYPE_CODE_FLT:
        return {8: "d", 4: "f"}.get(kind.sizeof, "")
    if kind.code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL):
        return ""
    letter = {8: "q", 4: "i", 2: "h", 1: "b"}.get(kind.sizeof, "")
    return letter if kind.is_signed else letter.upper()


def at_first_instruction(read: NativeValues, frame: gdb.Frame, flags: int) -> list[Row]:
    """The arguments of a method at its first instruction, by its METH_ flags (methodobject.h; x86-64)."""
    one, two, three, four = (int(frame.read_register(name)) & _WORD for name in ("rdi", "rsi", "rdx", "rcx"))
    found = [("self", one)]
    if flags & FASTCALL:
        keywords = read.memory.word(four + 16) if flags & KEYWORDS and four else 0
        count = min((three & ~(1 << 63)) + keywords, _ARGUMENTS_MAX)
        found += [(f"args[{i}]", read.memory.word(two + 8 * i)) for i in range(count)]
        found += [("kwnames", four)] if keywords else []
    elif not flags & NOARGS:
        found += [("args", two)] + ([("kwargs", three)] if flags & KEYWORDS else [])
    return [_object(read, name, at) for name, at in found]


def _object(read: NativeValues, name: str, address: int) -> Row:
    said = read.values.describe(address) if read.values is not None else f"{address:#x}"
    if isinstance(said, Unknown):
        return {"name": name, "type": "PyObject *", "value": said.reason}
    row: Row = {"name": name, "type": "PyObject *", "value": said}
    return {**row, "object": address} if address else row


def without_lines(read: NativeValues, frame: gdb.Frame, prototype: Prototype | None) -> list[Row]:
    """The arguments at a function's entry by its prototype, else the registers that arguments come in."""
    return [_told(one) for one in read.arguments(frame, prototype)]


def _told(one: Argument) -> Row:
    value = one.value.reason if isinstance(one.value, Unknown) else one.value
    return {"name": one.name, "type": one.type_name, "value": value}
