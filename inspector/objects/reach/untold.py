"""Types whose C structs own memory that neither tp_traverse nor their size tells of.

As measured when objects were deleted: tests/probes/test_freed.py.
"""

# SPDX-License-Identifier: MIT
import math
from collections.abc import Iterable
from typing import Final

LEAST_BYTES: Final = 65_536
LEAST_SHARE: Final = 0.01
"""Of what is told: so much may be missing in a number that is given."""
MOST_BYTES: Final = {
    "_thread.lock": 64,
    "decimal.Context": 250,
    "_hashlib.HASH": 600,
    "_hashlib.HASHXOF": 600,
    "_hashlib.HMAC": 1_000,
    "zoneinfo.ZoneInfo": 6_000,
    "numpy.random.bit_generator.SeedSequence": 80,
    "numpy.dtypes.VoidDType": 360,
}
"""Type -> bytes that one owns besides, at most."""
_UNBOUNDED: Final = {
    "zlib": ("Compress", "Decompress"),
    "_bz2": ("BZ2Compressor", "BZ2Decompressor"),
    "_lzma": ("LZMACompressor", "LZMADecompressor"),
    "_pickle": ("Pickler", "Unpickler"),
    "_sre": ("SRE_Scanner",),
    "_io": ("BufferedRWPair",),
    "symtable": ("SymbolTable",),
    "pyexpat": ("xmlparser",),
    "xml.etree.ElementTree": ("XMLParser",),
    "_ssl": ("_SSLContext",),
    "ssl": ("SSLContext",),
    "sqlite3": ("Connection",),
    "numpy.dtypes": ("StringDType",),
    "pandas._libs.parsers": ("TextReader",),
    "polars.expr.expr": ("Expr",),
    "pyarrow.ipc": ("RecordBatchStreamReader", "RecordBatchFileReader"),
    "pyarrow.lib": (
        *("RecordBatchReader", "BufferReader", "FixedSizeBufferWriter"),
        *("BufferedInputStream", "BufferedOutputStream", "TransformInputStream"),
        *("CompressedInputStream", "CompressedOutputStream"),
        *("Tensor", "SparseCOOTensor", "SparseCSRMatrix", "SparseCSCMatrix", "SparseCSFTensor"),
        *("ListScalar", "LargeListScalar", "ListViewScalar", "LargeListViewScalar", "FixedSizeListScalar"),
        *("StringScalar", "LargeStringScalar", "StringViewScalar", "BinaryScalar", "LargeBinaryScalar"),
        *("BinaryViewScalar", "FixedSizeBinaryScalar", "MapScalar", "StructScalar", "UnionScalar"),
        *("DictionaryScalar", "RunEndEncodedScalar", "ExtensionScalar"),
    ),
    "_duckdb": ("DuckDBPyConnection",),
    "lxml.etree": ("_Document",),
    "scipy.spatial._ckdtree": ("cKDTree",),
    "scipy.spatial._kdtree": ("KDTree",),
    "": ("SuperLU",),
}


def untold(rows: Iterable[tuple[str, int, int]]) -> str:
    """Why the bytes of rows (type, objects, bytes) do not say all that is freed; "" if they do."""
    rows = tuple(rows)
    for name, _, _ in rows:
        module, _, kind = name.rpartition(".")
        if kind in _UNBOUNDED.get(module, ()):
            return f"{name} owns memory that its C struct does not tell of"
    missing = {name: objects * MOST_BYTES.get(name, 0) for name, objects, _ in rows}
    told = sum(own_bytes for _, _, own_bytes in rows)
    if sum(missing.values()) <= max(LEAST_BYTES, math.ceil(LEAST_SHARE * told)):
        return ""
    return f"{max(missing, key=missing.__getitem__)} objects own memory that their C structs do not tell of"
