"""What objects of C without bytes to show are: one sentence for a type, true of each of its objects."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector.facts.answers import Answer
from inspector.verdicts.answers.words import answer, known

Facts = Mapping[str, Any]
_HASH: Final = "A running hash: it keeps a state of fixed size, not the bytes that it was fed."
_COMPRESSES: Final = "A compressor: it keeps the last bytes that it was fed, and what it has not given yet."
_EXTRACTS: Final = (
    "A decompressor: it keeps the last bytes that it gave, and in `unused_data` those after the end."
)
_VALUES: Final = "One value of Arrow's: it may keep the values of the whole array that it was taken from."
_NESTED: Final = ("Dictionary", "Extension", "FixedSizeList", "Map", "RunEndEncoded", "Struct", "Union")
SAID: Final = {
    **dict.fromkeys(("_hashlib.HASH", "_hashlib.HASHXOF", "_hashlib.HMAC"), _HASH),
    **dict.fromkeys(("_blake2.blake2b", "_blake2.blake2s", "hmac.HMAC"), _HASH),
    **dict.fromkeys(("zlib.Compress", "_bz2.BZ2Compressor", "_lzma.LZMACompressor"), _COMPRESSES),
    **dict.fromkeys(("zlib.Decompress", "_bz2.BZ2Decompressor", "_lzma.LZMADecompressor"), _EXTRACTS),
    "_contextvars.ContextVar": "A context variable: its values are in contexts, which keep them.",
    "numpy.broadcast": "Goes over several arrays together, and keeps them.",
    "zoneinfo.ZoneInfo": "The rules of a time zone; usually one object for all who ask for its key.",
    "decimal.Context": "Precision and rounding of decimal arithmetic, and the flags that it has raised.",
    "pyarrow.lib.Schema": "Names and types of columns, with their metadata; it holds no values.",
    "pyarrow.lib.Field": "Name and type of a column, with its metadata; it holds no values.",
    "pyarrow.lib.DataType": "A type of Arrow's; it holds no values.",
    "pyarrow.lib.MemoryPool": "An allocator of Arrow's: its `bytes_allocated()` says what it has given out.",
    **{f"pyarrow.lib.{kind}Scalar": _VALUES for kind in _NESTED},
    **{f"pyarrow.lib.{kind}Scalar": _VALUES for kind in ("List", "LargeList", "ListView", "LargeListView")},
    "pyarrow.lib.Scalar": "One value of Arrow's: it keeps no array.",
    "torch.jit._script.ScriptModule": "A module of TorchScript: its parameters are in C++, not read here.",
}
"""Full name of a type -> the sentence; of several bases the first."""


def kind(facts: Facts) -> Iterator[Answer]:
    """The sentence of its type, or of the first of its bases that has one."""
    found = known(facts, "object")
    said = next((SAID[base] for base in getattr(found, "type_mro", ()) if base in SAID), "")
    if said:
        yield answer("kind", said, "object.type_mro")
