"""The bytes of an array that an expression names, for a data breakpoint.

This file's text runs in the debugged program, by debugpy, in the frame that stands at a line: it imports the
standard library only. The expression is evaluated, as the user asked.
"""

# SPDX-License-Identifier: MIT
import ast
import ctypes
import json
from typing import Any

_LETTERS = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H"}
_LETTERS |= {"u1": "B", "b1": "?"}
"""Kind and bytes of an element -> struct's format letter."""


def object_bytes(expression: str, names: dict[str, Any]) -> str:
    """JSON: address, bytes, letter; or `refused`, the reason."""
    try:
        return json.dumps(_bytes(_value(expression, names)))
    except Exception as error:
        return json.dumps({"refused": f"{type(error).__name__}: {error}"[:200]})


def _value(expression: str, names: dict[str, Any]) -> Any:
    """The object; of `x[2]` and `x[1, 2]` the view x[2:3], which has the bytes of the element."""
    node = ast.parse(expression.strip(), mode="eval").body
    value = eval(expression, names)
    if not isinstance(node, ast.Subscript) or hasattr(value, "__array_interface__"):
        return value
    base = eval(ast.unparse(node.value), names)
    index = eval(ast.unparse(node.slice), names)
    if hasattr(base, "__array_interface__"):
        each = index if isinstance(index, tuple) else (index,)
        return base[tuple(slice(i, i + 1 or None) for i in each)]
    return memoryview(base)[index : index + 1 or None]


def _bytes(value: Any) -> dict[str, Any]:
    told = getattr(value, "__array_interface__", None)
    if told is None:
        return _of_buffer(memoryview(value))
    size = int(told["typestr"][2:])
    steps = told["strides"] or _packed(told["shape"], size)
    if not all(told["shape"]):
        return {"refused": "the array is empty"}
    ends = [(n - 1) * step for n, step in zip(told["shape"], steps, strict=True)]
    first, last = sum(one for one in ends if one < 0), sum(one for one in ends if one > 0)
    letter = _LETTERS.get(told["typestr"][1:], "")
    return {"address": told["data"][0] + first, "bytes": last - first + size, "letter": letter}


def _packed(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    steps = [size]
    for n in shape[:0:-1]:
        steps.append(steps[-1] * n)
    return tuple(steps[len(steps) - len(shape) :][::-1]) if shape else ()


def _of_buffer(view: memoryview) -> dict[str, Any]:
    if not view.c_contiguous or not view.nbytes:
        return {"refused": "it is no contiguous buffer that has bytes"}
    address = ctypes.addressof(ctypes.c_char.from_buffer(view))  # a TypeError where it cannot be written
    return {"address": address, "bytes": view.nbytes, "letter": view.format if len(view.format) == 1 else ""}
