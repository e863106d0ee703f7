"""torch's types of elements in the order of c10::ScalarType, for readers of this and of other processes."""

# SPDX-License-Identifier: MIT
from typing import Final

_DTYPES: Final = """
uint8:B1 int8:b1 int16:h2 int32:i4 int64:q8 float16:e2 float32:f4 float64:d8 complex32:c4
complex64:c8 complex128:c16 bool:?1 qint8:b1 quint8:B1 qint32:i4 bfloat16:-2 quint4x2:-1 quint2x4:-1
bits1x8:-1 bits2x4:-1 bits4x2:-1 bits8:-1 bits16:-2 float8_e5m2:-1 float8_e4m3fn:-1
float8_e5m2fnuz:-1 float8_e4m3fnuz:-1 uint16:H2 uint32:I4 uint64:Q8
"""
DTYPES: Final = tuple(_DTYPES.split())
"""c10::ScalarType in order: name, struct code ("-", "c": none), bytes."""


def dtype_name(dtype: int) -> str:
    """A c10::ScalarType by torch's name: "float32"."""
    return DTYPES[dtype].partition(":")[0] if dtype < len(DTYPES) else "unknown dtype"


def dtype_bytes(dtype: int) -> int:
    """Bytes of an element; 0 if the type is unknown."""
    return int(DTYPES[dtype].partition(":")[2][1:]) if dtype < len(DTYPES) else 0
