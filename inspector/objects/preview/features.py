"""The inputs of a rule: the kind of an object, its elements and their layout; runs no user code."""

# SPDX-License-Identifier: MIT
from typing import Any, Final

from inspector.adapters.base import type_module, type_name
from inspector.adapters.registry import adapter_of
from inspector.facts.given import Given
from inspector.objects.classes import type_bases

KINDS: Final = {
    ("numpy", "ndarray"): "ndarray",
    ("pandas", "Series"): "Series",
    ("pandas", "DataFrame"): "DataFrame",
    ("torch", "Tensor"): "Tensor",
    ("pyarrow", "Array"): "Arrow array",
    ("pyarrow", "Table"): "Arrow table",
    ("polars", "Series"): "polars Series",
    ("polars", "DataFrame"): "polars DataFrame",
    ("array", "array"): "array",
    **{("builtins", name): name for name in ("list", "tuple", "dict", "bytes", "bytearray", "memoryview")},
}
TABLES: Final = ("DataFrame", "Arrow table", "polars DataFrame", "dict")


def features(x: Any) -> Given:
    """The kind of `x`, by its type's bases, and its one block of elements."""
    kind = next(
        (KINDS[key] for base in type_bases(type(x)) if (key := _key(base)) in KINDS), type_name(type(x))
    )
    adapter = adapter_of(type(x))
    blocks = adapter.elements(x) if adapter is not None else ()
    block = blocks[0] if len(blocks) == 1 else None
    size = sum(one.size * one.itemsize_bytes for one in blocks)
    return Given(
        kind=kind,
        is_table=kind in TABLES or (block is not None and len(block.shape) == 2),
        typestr=block.typestr if block else "",
        dimensions=len(block.shape) if block else 0,
        contiguous=block is not None and block.range.bytes == block.size * block.itemsize_bytes,
        backwards=block is not None and any(stride < 0 for stride in block.strides_bytes),
        read_only=block is not None and block.readonly,
        blocks=len(blocks),
        size_bytes=size,
    )


def _key(base: type) -> tuple[str, str]:
    return type_module(base).partition(".")[0], type_name(base).rpartition(".")[2]
