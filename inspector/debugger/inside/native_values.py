"""Inside gdb: arguments and locals of a native frame as bounded text; calls no code in the program."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import gdb

from inspector.debugger.memory.python_values import Values
from inspector.debugger.memory.r_values import describe
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.debugger.memory.torch_values import argument_text, parser_text, signature_text
from inspector.debugger.presets.prototypes import INTEGER_REGISTERS, Parameter, Prototype
from inspector.facts.stack import Argument
from inspector.facts.unknown import Unknown

_CHARACTERS: Final = 200
_OF_TORCH: Final = ("at::", "c10::", "std::optional<")
_LOWEST: Final = 0x10000
"""A register below this holds a number, not an address."""


class NativeValues:
    """Reads values of one process; `values` reads Python objects, where there is a Python."""

    def __init__(self, memory: RemoteMemory, values: Values | None) -> None:
        self.memory, self.values = memory, values

    def arguments(self, frame: gdb.Frame, prototype: Prototype | None) -> tuple[Argument, ...]:
        """The arguments, by debug information, else by the prototype, else as raw registers."""
        if frame.function() is not None:
            return tuple(map(self._argument, symbols(frame, True)))
        if prototype is not None:
            return self.by_prototype(frame, prototype)
        return tuple(self._register(frame, name) for name in INTEGER_REGISTERS)

    def by_prototype(self, frame: gdb.Frame, prototype: Prototype) -> tuple[Argument, ...]:
        """The arguments by the prototype, also where there is debug information."""
        return tuple(self._by_prototype(frame, parameter) for parameter in prototype.parameters)

    def locals(self, frame: gdb.Frame) -> tuple[Argument, ...]:
        """Arguments and variables of the frame's blocks, innermost first."""
        return tuple(map(self._argument, (*symbols(frame, True), *symbols(frame, False))))

    def _argument(self, found: "Variable") -> Argument:
        value = found.value
        return Argument(
            found.name, found.type_name, value if isinstance(value, Unknown) else self.text(value), "debug"
        )

    def text(self, value: gdb.Value) -> str | Unknown:
        """A value as gdb prints it; a pointer to a Python object as that object."""
        if value.is_optimized_out:
            return Unknown("optimized out")
        kind = value.type.strip_typedefs()
        if is_object(kind):
            return self._object(int(value) & (1 << 64) - 1)
        try:
            shown = value.format_string(max_elements=20, max_depth=2, symbols=False, repeat_threshold=10)
        except gdb.error as error:
            return Unknown(f"unreadable: {error}"[:120])
        return shown if len(shown) <= _CHARACTERS else shown[: _CHARACTERS - 1] + "…"

    def _object(self, address: int) -> str | Unknown:
        if self.values is None:
            return f"{address:#x}"
        return self.values.describe(address)

    def _by_prototype(self, frame: gdb.Frame, parameter: Parameter) -> Argument:
        try:
            value = self._in_register(frame, parameter)
        except (gdb.error, ValueError, Unreadable) as error:
            value = Unknown(f"unreadable: {error}"[:120])
        return Argument(parameter.name, parameter.type_name, value, "prototype")

    def _in_register(self, frame: gdb.Frame, parameter: Parameter) -> str | Unknown:
        if not parameter.register:
            return Unknown("not in a register")
        if parameter.register.startswith("xmm"):
            low = int(frame.read_register(parameter.register)["v2_int64"][0]) & (1 << 64) - 1
            raw = struct.pack("<Q", low)
            return repr(struct.unpack("<d" if parameter.bytes == 8 else "<f", raw[: parameter.bytes])[0])
        words = [int(frame.read_register(name)) & (1 << 64) - 1 for name in parameter.register.split()]
        word = words[0]
        if parameter.type_name.removeprefix("const ").startswith(_OF_TORCH):
            return argument_text(self.memory, parameter.type_name, words, symbol_at)
        if parameter.pointer:
            return self._pointer(parameter.type_name, word)
        raw = struct.pack("<Q", word)[: parameter.bytes]
        number = int.from_bytes(raw, "little", signed=parameter.signed)
        return str(bool(number)).lower() if "bool" in parameter.type_name.lower() else str(number)

    def _pointer(self, kind: str, word: int) -> str | Unknown:
        if "Object *" in kind.replace("*", " *").replace("  ", " ") and kind.count("*") == 1:
            return self._object(word)
        if kind.startswith("SEXP"):
            return describe(self.memory, self.memory.word(word) if kind.endswith("*") else word)
        if "FunctionSignature" in kind:
            return signature_text(self.memory, word)
        if "PythonArgParser" in kind:
            return parser_text(self.memory, word)
        if re_char(kind) and word:
            return repr(self.memory.text(word, 80))
        return f"{word:#x}" if word else "NULL"

    def _register(self, frame: gdb.Frame, name: str) -> Argument:
        word = int(frame.read_register(name)) & (1 << 64) - 1
        said = f"{word:#x}"
        if self.values is not None and word > _LOWEST and word % 8 == 0:
            found = self.values.describe(word)
            said += "" if isinstance(found, Unknown) else f" = {found}"
        return Argument(name, "", said, "register")


@cache
def symbol_at(address: int) -> str:
    """The symbol that covers an address of a library, as gdb names it; "" for none."""
    said = gdb.execute(f"info symbol {address:#x}", to_string=True)
    return "" if said.startswith("No symbol") else said.partition(" in section ")[0]


def re_char(kind: str) -> bool:
    """Whether a type is a C string."""
    return kind.replace("const", "").replace(" ", "") == "char*"


def is_object(kind: gdb.Type) -> bool:
    """Whether a type is a pointer to a struct that begins with PyObject_HEAD, by its name: _object,
    PyListObject, PyArrayObject."""
    kind = kind.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_PTR:
        return False
    target = kind.target()
    if target.strip_typedefs().code != gdb.TYPE_CODE_STRUCT:
        return False
    name = target.strip_typedefs().unqualified().name or target.tag or str(target)
    return "Object" in str(target) or name in ("_object", "_typeobject")


class Variable(NamedTuple):
    """An argument or variable of a frame with debug information."""

    name: str
    type_name: str
    value: gdb.Value | Unknown


def symbols(frame: gdb.Frame, arguments: bool) -> Iterator[Variable]:
    """Arguments, or variables of the frame's blocks, innermost first."""
    try:
        block: gdb.Block | None = frame.block()
    except RuntimeError:  # no debug information
        return
    seen: set[str] = set()
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            wanted = symbol.is_argument if arguments else symbol.is_variable and not symbol.is_argument
            if wanted and symbol.name not in seen:
                seen.add(symbol.name)
                yield Variable(symbol.name, str(symbol.type), _read(frame, symbol))
        block = None if block.function else block.superblock


def _read(frame: gdb.Frame, symbol: gdb.Symbol) -> gdb.Value | Unknown:
    try:
        return frame.read_var(symbol)
    except (gdb.error, RuntimeError) as error:
        return Unknown(f"unreadable: {error}"[:120])
