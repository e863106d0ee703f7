"""Which objects' bytes are their values: not codes, not numbers under a mask or in a unit."""

# SPDX-License-Identifier: MIT
from inspector import _native
from inspector.adapters.base import Elements, type_name
from inspector.adapters.registry import adapter_of

TYPES = frozenset(
    (
        *("ndarray", "memmap", "memoryview", "bytearray", "bytes", "array", "mmap", "Tensor"),
        *(
            "FloatArray",
            "DoubleArray",
            *(f"{sign}Int{bits}Array" for sign in ("", "U") for bits in (8, 16, 32, 64)),
        ),
    )
)
"""Exact types, by their last name, of which one block holds the values."""


def is_plain(subject: _native.Subject, block: Elements) -> bool:
    """Whether the block of an object holds its values as they are."""
    kind = type(subject.get())
    name, adapter = type_name(kind).rpartition(".")[2], adapter_of(kind)
    if adapter is not None and adapter.library == "pandas":
        from inspector.adapters.pandas_frames import holds_plain_array

        return holds_plain_array(subject.get())
    if name == "Tensor" and block.format.startswith("complex"):
        return False  # a bit of the tensor may stand for its conjugate
    return name in TYPES
