"""torch's argument parser of another process as text: the signatures it knows, and the one that matched.

torch::PythonArgParser, FunctionSignature and FunctionParameter (torch/csrc/utils/python_arg_parser.h of 2.13)
are private: every read is bounded, and what is not valid names and counts is Unknown.
"""

# SPDX-License-Identifier: MIT
import struct
from typing import Final

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.unknown import Unknown

_SIGNATURE_BYTES: Final = 88
_MOST: Final = 64
_TYPES: Final = (
    *("Tensor", "Number", "int", "SymInt", "float", "complex", "Tensor[]", "int[]", "Generator", "bool"),
    *(
        "Storage",
        "object",
        "dtype",
        "layout",
        "memory_format",
        "device",
        "Stream",
        "str",
        "Dimname",
        "Dimname[]",
    ),
    *("qscheme", "float[]", "Number[]", "SymInt[]", "DispatchKeySet"),
)
"""Names of ParameterType's values in order, as in torch's error messages."""


def parser_text(memory: RemoteMemory, address: int) -> str | Unknown:
    """The signatures of a PythonArgParser, in the order in which they are tried."""
    try:
        start, stop = memory.word(address), memory.word(address + 8)
        count, rest = divmod(stop - start, _SIGNATURE_BYTES)
        if rest or not 0 < count <= _MOST:
            return Unknown(f"no PythonArgParser of torch 2.13 at {address:#x}")
        return " | ".join(_signature(memory, start + n * _SIGNATURE_BYTES) for n in range(count))
    except (Unreadable, ValueError) as error:
        return Unknown(f"no PythonArgParser of torch 2.13 at {address:#x}: {error}")


def signature_text(memory: RemoteMemory, address: int) -> str | Unknown:
    """One FunctionSignature as in the source: types and names, and whether it is deprecated."""
    try:
        return _signature(memory, address)
    except (Unreadable, ValueError) as error:
        return Unknown(f"no FunctionSignature of torch 2.13 at {address:#x}: {error}")


def _signature(memory: RemoteMemory, address: int) -> str:
    words = struct.unpack("<3Q", memory.read(address + 32, 24))
    _, most, positional, index, hidden, deprecated = struct.unpack("<3QiBB", memory.read(address + 56, 30))
    step, rest = divmod(words[1] - words[0], most) if most else (0, 0)
    if most > _MOST or positional > most or rest or hidden > 1 or deprecated > 1:
        raise ValueError("its counts do not fit")
    parameters = [_parameter(memory, words[0] + n * step) for n in range(most)]
    if positional < most:
        parameters.insert(positional, "*")
    return (
        f"{_string(memory, address)}({', '.join(parameters)}){'|deprecated' if deprecated else ''} #{index}"
    )


def _parameter(memory: RemoteMemory, address: int) -> str:
    kind = memory.word(address) & 0xFFFF_FFFF
    if kind >= len(_TYPES):
        raise ValueError(f"no parameter type {kind}")
    return f"{_TYPES[kind]} {_string(memory, address + 16)}"


def _string(memory: RemoteMemory, address: int) -> str:
    """A std::string of libstdc++: pointer and length."""
    start, length = memory.word(address), memory.word(address + 8)
    if length > 200:
        raise ValueError("a name is too long")
    found = memory.read(start, length).decode("ascii")
    if not found.isidentifier():
        raise ValueError("a name is no name")
    return found
