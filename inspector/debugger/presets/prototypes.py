"""Parse a C prototype, and find the register of each argument.

The System V ABI for x86-64 (section 3.2.3): integers and pointers in rdi rsi rdx rcx r8 r9, float and
double in xmm0 to xmm7. Arguments on the stack and structs by value are unknown.
"""

# SPDX-License-Identifier: MIT
import re
from typing import Final, NamedTuple

from inspector.errors import InspectorError

INTEGER_REGISTERS: Final = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
FLOAT_REGISTERS: Final = tuple(f"xmm{i}" for i in range(8))
_SIZES: Final = {
    **dict.fromkeys(("char", "bool", "_Bool", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "int32_t", "uint32_t", "unsigned", "signed", "Rboolean", "npy_bool", "enum"), 4),
    **dict.fromkeys(("long", "size_t", "ssize_t", "int64_t", "uint64_t", "intptr_t", "uintptr_t"), 8),
    **dict.fromkeys(("Py_ssize_t", "Py_hash_t", "npy_intp", "SEXP"), 8),
}
_POINTERS: Final = ("SEXP",)
"""Names of types that are pointers."""
_UNSIGNED: Final = ("unsigned", "size_t", "uint", "bool", "_Bool", "uintptr_t")
_SHAPE: Final = re.compile(r"(?P<result>.*?)(?P<name>~?[A-Za-z_][\w:~]*)\s*\((?P<parameters>.*)\)\s*;?\s*$")
_PARAMETER: Final = re.compile(r"(?P<type>.*?[\s*&])(?P<name>[A-Za-z_]\w*)(?:\[\w*\])?$")


class Parameter(NamedTuple):
    """One parameter: its name, type and register."""

    name: str
    type_name: str
    register: str
    """"" (unknown) where it is on the stack, a struct by value, or after "..."."""
    bytes: int
    signed: bool
    pointer: bool


class Prototype(NamedTuple):
    """A function's name, and its parameters in order."""

    name: str
    parameters: tuple[Parameter, ...]


def parsed(line: str) -> Prototype:
    """A prototype as C writes it: "PyObject *probe(PyObject *self, double x, int n)".

    Raises InspectorError bad-prototype.
    """
    shape = _SHAPE.match(line.strip())
    if shape is None:
        raise _bad(line, "it is not `result name(type name, ...)`")
    texts = [part.strip() for part in split(shape["parameters"])]
    return Prototype(shape["name"], _placed(texts) if texts not in ([""], ["void"]) else ())


def split(parameters: str) -> list[str]:
    """The texts between the commas outside of brackets."""
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "(<[") - (character in ")>]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _placed(texts: list[str]) -> tuple[Parameter, ...]:
    integers, floats = list(INTEGER_REGISTERS), list(FLOAT_REGISTERS)
    found, lost = [], False
    for number, text in enumerate(texts, 1):
        if text == "...":
            break
        match = _PARAMETER.match(text)
        named = match is not None and match["name"] not in _SIZES and match["name"] not in ("double", "float")
        kind = (match["type"] if match and named else text).strip()
        name = match["name"] if match and named else f"argument {number}"
        size, is_float, pointer = _class(kind)
        lost = lost or not size  # a struct by value takes an unknown number of registers
        free = floats if is_float else integers
        register = free.pop(0) if free and not lost else ""
        signed = not kind.startswith(_UNSIGNED)
        found.append(Parameter(name, kind, register, size, signed, pointer))
    return tuple(found)


def _class(kind: str) -> tuple[int, bool, bool]:
    """(bytes (0: unknown), whether float, whether pointer) of a type."""
    if kind.endswith(("*", "&", "]")) or kind in _POINTERS:
        return 8, False, True
    words = [
        word for word in re.findall(r"\w+", kind) if word not in ("const", "volatile", "static", "struct")
    ]
    if "double" in words or "float" in words:
        return (0 if "long" in words else 8 if "double" in words else 4), True, False
    if "long" in words:
        return 8, False, False
    sizes = [_SIZES[word] for word in words if word in _SIZES]
    return (min(sizes) if sizes else 0), False, False


def _bad(line: str, why: str) -> InspectorError:
    return InspectorError(
        f"not a prototype: {line[:80]!r}.",
        slug="bad-prototype",
        why=why,
        do='write it in C: "PyObject *probe(PyObject *self, double x)"',
    )
