"""The caches of a str: its hash, and its UTF-8 form (PyUnicode_AsUTF8) for C.

Both are in the object's struct (CPython: Include/cpython/unicodeobject.h, PyASCIIObject and
PyCompactUnicodeObject); `wstr` was between them until 3.12. An ASCII text is its own UTF-8.
"""

# SPDX-License-Identifier: MIT
import functools
import sys

from inspector import _native
from inspector.adapters.told import field
from inspector.facts.materialization import Evidence

WORD = 8
HASH = 3 * WORD
UTF8 = (6 if sys.version_info >= (3, 12) else 7) * WORD
NOT_COMPUTED = 2**64 - 1
"""-1, which is never a hash."""


def evidence(x: str) -> tuple[Evidence, ...]:
    """The caches of an exact str; () if this interpreter stores them elsewhere."""
    if not knows():
        return ()
    hashed = (field("hash", "not computed yet"),) if _word(x, HASH) == NOT_COMPUTED else ()
    if x.isascii():
        return hashed
    made = _word(x, UTF8) != 0
    return (*hashed, field("utf8", "kept beside the text" if made else "not made yet"))


@functools.cache
def knows() -> bool:
    """The self test: hash() fills one word; reading a class's name as UTF-8 fills the other."""
    x = "".join(("\u00e9", "tat"))
    before = (_word(x, HASH), _word(x, UTF8))
    type(x, (), {})
    kept = _native.read(_word(x, UTF8), 6) if _word(x, UTF8) else None
    hashed = hash(x) % 2**64
    return before == (NOT_COMPUTED, 0) and kept == x.encode() + b"\0" and _word(x, HASH) == hashed


def _word(x: str, offset: int) -> int:
    return int.from_bytes(_native.read(id(x) + offset, WORD) or b"", "little")
