"""torch's values of another process as text: signatures of the argument parser, tensors, scalars.

torch::PythonArgParser, FunctionSignature and FunctionParameter (torch/csrc/utils/python_arg_parser.h of 2.13)
are private: every read is bounded, and what is not valid names and counts is Unknown.
"""

# SPDX-License-Identifier: MIT
import contextlib
import re
import struct
from collections.abc import Callable, Sequence
from typing import Final

from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.facts.unknown import Unknown
from inspector.objects.layouts.torch_dtypes import dtype_bytes, dtype_name

_SIGNATURE_BYTES: Final = 88
_MOST: Final = 64
_WRITTEN: Final = re.compile(r"^const | const\b|\s*&$")
TENSOR_WORDS, INLINE_DIMENSIONS = 27, 5
_DOUBLE, _INTEGER, _COMPLEX, _BOOL = 0, 1, 3, 4
"""Tags of c10::Scalar (torch/headeronly/core/Scalar.h or c10/core/Scalar.h of 2.13)."""
_NONE, _TENSOR, _FLOAT, _WHOLE = 0, 1, 3, 5
"""Tags of c10::IValue that torch's releases agree on (ATen/core/ivalue.h); those behind them moved."""
_ARGUMENT_LEAST, _ARGUMENT_MOST = 64, 256
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


def argument_text(
    memory: RemoteMemory, kind: str, words: Sequence[int], named: Callable[[int], str]
) -> str | Unknown:
    """An argument of an operator by its C++ type and registers; `named` gives the symbol at an address."""
    try:
        return _argument(memory, _WRITTEN.sub("", kind), words, named)
    except (Unreadable, ValueError) as error:
        return Unknown(f"unreadable: {error}")


def boxed_text(memory: RemoteMemory, kind: str, address: int, named: Callable[[int], str]) -> str | Unknown:
    """A c10::IValue: a word, then a tag; `kind`: its C++ type, "" where that is not known."""
    try:
        tag = memory.word(address + 8) & 0xFFFF_FFFF
        if tag == _NONE:
            return "None"
        if tag == _TENSOR:
            return tensor_text(memory, memory.word(address), named)
        if tag == _FLOAT:
            return repr(struct.unpack("<d", memory.read(address, 8))[0])
        if tag == _WHOLE:
            return str(_symbolic(memory.word(address)))
        if kind == "bool":
            return str(bool(memory.word(address) & 1))
    except (Unreadable, ValueError) as error:
        return Unknown(f"unreadable: {error}")
    return Unknown(f"{kind or f'a value with the tag {tag}'} is not decoded")


def string(memory: RemoteMemory, address: int) -> str:
    """A std::string of libstdc++, up to 4,096 bytes. Raises Unreadable."""
    start, length = memory.word(address), memory.word(address + 8)
    return memory.read(start, min(length, 4096)).decode("utf-8", "replace")


def argument_names(memory: RemoteMemory, address: int) -> tuple[str, ...]:
    """The names of a c10::FunctionSchema's arguments; () where none are found.

    Its two strings are followed by a vector of c10::Argument. How many bytes one takes differs between
    releases; each begins with its name.
    """
    start, end = struct.unpack("<2Q", memory.read(address + 64, 16))
    for step in range(_ARGUMENT_LEAST, min(end - start, _ARGUMENT_MOST) + 8, 8):
        with contextlib.suppress(Unreadable, ValueError):
            if (end - start) % step == 0 and (end - start) // step <= _MOST:
                return tuple(_string(memory, start + at) for at in range(0, end - start, step))
    return ()


def _argument(
    memory: RemoteMemory, kind: str, words: Sequence[int], named: Callable[[int], str]
) -> str | Unknown:
    word = words[0]
    if kind == "at::Tensor":
        return tensor_text(memory, memory.word(word), named)
    if kind == "std::optional<at::Tensor>":
        return tensor_text(memory, memory.word(word), named) if memory.word(word + 8) & 1 else "None"
    if kind == "c10::Scalar":
        return scalar_text(memory, word)
    if kind == "std::optional<c10::Scalar>":
        return scalar_text(memory, word) if memory.word(word + 32) & 1 else "None"
    if kind == "c10::SymInt":
        return _symbolic(memory.word(word))
    if kind == "std::optional<long>":
        return str(_symbolic(word)) if words[1] & 1 else "None"
    if kind in ("c10::ArrayRef<long>", "c10::ArrayRef<c10::SymInt>") and words[1] <= _MOST:
        numbers = struct.unpack(f"<{words[1]}Q", memory.read(word, 8 * words[1]))
        return f"[{', '.join(str(_symbolic(one)) for one in numbers)}]"
    if kind == "c10::IListRef<at::Tensor>" and not memory.word(word + 16) & 0xFF:  # holds an ArrayRef
        kind, words = "c10::ArrayRef<at::Tensor>", [memory.word(word), memory.word(word + 8)]
        word = words[0]
    if kind == "c10::ArrayRef<at::Tensor>" and words[1] <= _MOST:
        handles = (memory.word(word + 8 * n) for n in range(words[1]))
        return "[" + ", ".join(str(tensor_text(memory, one, named)) for one in handles) + "]"
    if kind.startswith("std::optional<"):
        if not word >> (16 if "Device" in kind else 8) & 1:  # the flag behind the value
            return "None"
        if kind == "std::optional<bool>":
            return str(bool(word & 1))
    if kind.endswith(("c10::ScalarType", "c10::ScalarType>")):
        return dtype_name(word & 0xFF)
    return Unknown(f"{kind} is not decoded")


def _symbolic(word: int) -> str | Unknown:
    """A number, or c10::SymInt's pointer to an expression, whose two highest bits differ."""
    return Unknown("symbolic") if word >> 62 == 2 else str(word - (word >> 63 << 64))


def tensor_text(memory: RemoteMemory, implementation: int, named: Callable[[int], str]) -> str | Unknown:
    """A c10::TensorImpl: type, sizes, and where its elements begin; `named`: the symbol at an address."""
    try:
        if "UndefinedTensorImpl" in (of := named(memory.word(implementation))):
            return "undefined"
        if "TensorImpl" not in of:
            return Unknown(f"no TensorImpl at {implementation:#x}")
        words = struct.unpack(f"<{TENSOR_WORDS}Q", memory.read(implementation, 8 * TENSOR_WORDS))
        sizes, steps = _extents(memory, words)
        text = f"{dtype_name(words[20] & 0xFFFF)} {sizes}"
        if steps != _contiguous(sizes):
            text += f" strides {steps}"
        if not words[2]:
            return f"{text} without storage"
        start, _, _, _, size = struct.unpack("<5Q", memory.read(words[2] + 16, 40))
        begin = start + words[18] * dtype_bytes(words[20] & 0xFFFF)
        return f"{text} at {begin:#x} in {size:,} B" if start else f"{text} of {size:,} B without memory"
    except (Unreadable, ValueError) as error:
        return Unknown(f"no tensor of torch 2.13 at {implementation:#x}: {error}")


def _extents(memory: RemoteMemory, words: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides in elements: up to five inside the struct, else in a block of their own."""
    ranks = words[7]
    if ranks > _MOST:
        raise ValueError(f"{ranks} dimensions")
    if ranks <= INLINE_DIMENSIONS:
        both = struct.pack("<10Q", *words[8 : 8 + 2 * INLINE_DIMENSIONS])
        return struct.unpack_from(f"<{ranks}q", both), struct.unpack_from(f"<{ranks}q", both, 40)
    found = struct.unpack(f"<{2 * ranks}q", memory.read(words[8], 16 * ranks))
    return found[:ranks], found[ranks:]


def _contiguous(sizes: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for size in reversed(sizes):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def scalar_text(memory: RemoteMemory, address: int) -> str | Unknown:
    """A c10::Scalar: the tag, then a float or an int 16 bytes on."""
    try:
        tag = memory.word(address) & 0xFF
        raw = memory.read(address + 16, 16)
    except Unreadable as error:
        return Unknown(f"unreadable: {error}")
    if tag in (_DOUBLE, _COMPLEX):
        real, imaginary = struct.unpack("<2d", raw)
        return repr(real if tag == _DOUBLE else complex(real, imaginary))
    if tag not in (_INTEGER, _BOOL):
        return Unknown(f"a Scalar with the tag {tag}")
    number = int.from_bytes(raw[:8], "little", signed=True)
    return str(bool(number & 0xFF)) if tag == _BOOL else str(number)
