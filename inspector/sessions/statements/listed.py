"""Lists of Python objects that were the elements of an operand: numbers, texts, rows of a table."""

# SPDX-License-Identifier: MIT
import ast
import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.adapters.base import Elements
from inspector.objects.classes import type_name
from inspector.objects.sharing.meetings import Blocks
from inspector.objects.sharing.values import SAMPLE, same_items
from inspector.sessions.statements.elements import bytes_of
from inspector.sessions.statements.syntax import integer, tree
from inspector.sessions.statements.values import NONE, Before, Found, Related, parts_of

_TYPED: Final = {1: "bB", 2: "hHe", 4: "iIf", 8: "qQd"}
"""Bytes of a number -> the letters of struct that read it."""
_METHODS: Final = ("tolist", "to_list", "to_pylist", "to_dicts", "rows", "to_dict", "to_pydict", "itertuples")
MOST_TEXTS: Final = 1 << 20
_SAME_ELEMENTS: Final = ("T", "mT", "values")
"""Attributes of an array that show its elements with their type."""
_NUMBERS: Final = (int, float, complex, bool)


class Listed(NamedTuple):
    """Of what a list was made, what it holds, and the operand's bytes of that."""

    of: str
    became: str
    bytes: int


def unpacked(text: str, value: Any, operands: dict[str, Before], now: dict[str, Found]) -> Related | None:
    """The operand whose elements are the numbers of a list or tuple; None if none is known to be."""
    if type(value) is dict:
        return None
    for name, one in operands.items():
        live = now.get(name, NONE)
        if not live or id(live[0]) != one.address:
            continue
        for chunks in (
            *_shown(text, one.blocks, len(value)),
            one.blocks,
            *(part for _, part in parts_of(live[0])),
        ):
            if any(same_items(found, value) for found in _readings(chunks, len(value))):
                return Related("apart", name, bytes_of(chunks), "equal", len(value) <= SAMPLE)
            if _are_chunks(chunks, value):
                return Related("apart", name, bytes_of(chunks), "equal", False)
    return None


def _shown(text: str, blocks: Blocks, count: int) -> Iterator[Blocks]:
    """The part of one block that `x[5:50]` or `struct.unpack_from("9d", x, 80)` takes."""
    node: Any = getattr(tree(text), "value", None)
    if len(blocks) != 1 or len(blocks[0].shape) != 1:
        return
    block = blocks[0]
    (step,) = block.strides_bytes
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is None:
        first = 0 if node.slice.lower is None else integer(node.slice.lower)
        if first is not None and 0 <= first <= block.size - count:
            yield (replace(block, address=block.address + first * step, shape=(count,)),)
    elif (
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "unpack_from" and len(node.args) == 3
    ):
        first, size = integer(node.args[2]), _format_bytes(node.args[0])
        if first is not None and 0 <= first <= block.range.bytes - size:
            plain = replace(block, itemsize_bytes=1, typestr="B", format="uint8", strides_bytes=(1,))
            yield (replace(plain, address=block.address + first, shape=(size,)),)


def _format_bytes(node: ast.expr) -> int:
    """The bytes of a format of `struct` that is written there; 0 for another expression."""
    try:
        return struct.calcsize(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, struct.error):
        return 0


def _readings(blocks: Blocks, count: int) -> Iterator[Elements]:
    """A single block as it is, and bytes as so many numbers of each type of their size."""
    if len(blocks) != 1:
        return
    block = blocks[0]
    yield block
    size = block.size // count if count and block.itemsize_bytes == 1 and block.size % count == 0 else 0
    for kind in _TYPED.get(size, ""):
        yield replace(block, typestr=kind, itemsize_bytes=size, shape=(count,), strides_bytes=(size,))


def _are_chunks(chunks: Blocks, value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether the first and the last of several chunks are the items at both ends of as many."""
    if len(chunks) < 2 or sum(one.size for one in chunks) != len(value):
        return False
    ends = value[: chunks[0].size], value[-chunks[-1].size :]
    return all(same_items(one, some) is True for one, some in zip((chunks[0], chunks[-1]), ends, strict=True))


def listed(text: str, value: Any, operands: dict[str, Before]) -> Listed | None:
    """What `x[...].tolist()` or `df.to_dict()` made; None for other statements, and for unknown bytes."""
    source = _source(text) if any(f".{method}(" in text for method in (*_METHODS, "iter_unpack")) else None
    one = None if source is None else operands.get(_root(source))
    if source is None or one is None or not one.blocks or not value:
        return None
    count, item = _items(value)
    if not count:
        return None
    size = _bytes(one, value, item, count, isinstance(source, ast.Name))
    kind = "value" if type(value) is dict and _is_mixed(value) else type_name(type(item))
    kind = "tuple" if issubclass(type(item), tuple) else kind
    return Listed(ast.unparse(source), f"{count:,} {kind}", size) if size else None


def _is_mixed(columns: dict[Any, Any]) -> bool:
    """Whether the first values of columns are of several types."""
    lists = (list(one.values()) if type(one) is dict else one for one in columns.values())
    return len({id(type(one[0])) for one in lists if type(one) is list and one}) > 1


def _bytes(one: Before, value: Any, item: Any, count: int, is_whole: bool) -> int:
    """An operand's bytes of the items; 0 where they are not known."""
    all_numbers = len(one.blocks) == one.total and all(block.numeric for block in one.blocks)
    if type(item) is str and all_numbers and type(value) is list:
        return _characters(value)
    is_tuple = issubclass(type(item), tuple)
    if type(item) is dict or is_tuple or type(value) is dict:
        return bytes_of(one.blocks) if is_whole and all_numbers else 0
    is_array = len(one.blocks) == 1 == one.total and all_numbers
    return count * one.blocks[0].itemsize_bytes if is_array and _native.exactly(item, *_NUMBERS) else 0


def _characters(texts: Any) -> int:
    """Bytes of texts in UTF-8; 0 for too many, and where some are none."""
    if len(texts) > MOST_TEXTS or any(type(one) is not str for one in texts):
        return 0
    return sum(len(one) if one.isascii() else len(one.encode("utf-8", "surrogatepass")) for one in texts)


def _source(text: str) -> ast.expr | None:
    """The expression whose method is the right side of a statement."""
    call: Any = getattr(tree(text), "value", None)
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("list", "tuple") and call.args:
        call = call.args[0]  # of what is passed one by one
        if ast.unparse(call).startswith("struct.iter_unpack(") and len(call.args) == 2:
            second: ast.expr = call.args[1]
            return second
    method = call.func if isinstance(call, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) and method.attr in _METHODS else None


def _root(source: ast.expr) -> str:
    """The name whose elements an expression shows by items and attributes alone; "" where it does not."""
    while not isinstance(source, ast.Name):
        if isinstance(source, ast.Attribute) and source.attr not in _SAME_ELEMENTS:
            return ""
        if not isinstance(source, (ast.Attribute, ast.Subscript)):
            return ""
        source = source.value
    return source.id


def _items(value: Any) -> tuple[int, Any]:
    """(how many items lists of lists of one length, or a dict of columns, hold, the first of them)."""
    if type(value) is dict:
        first = next(iter(value.values()))
        held = [len(one) for one in value.values() if _native.exactly(one, list, dict)]
        inner = first.values() if type(first) is dict else first if type(first) is list else ()
        return (sum(held), next(iter(inner), None)) if len(held) == len(value) else (0, None)
    count = 1
    while type(value) is list and value:
        count, value = count * len(value), value[0]
    return count, value
