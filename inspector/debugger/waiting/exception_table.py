"""How many values of an evaluation stack are certainly live: the table of handlers of a code object.

Objects/exception_handling_notes.txt of CPython describes the table: for each range of instructions the depth
to which the stack is cut before the handler runs. What lies below that depth is in use.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator


def live_depth(table: bytes, offset: int) -> int:
    """The depth at the handler that covers the instruction at `offset` (bytes); 0 without a handler."""
    words = _numbers(table)
    for start, length, _, depth in zip(words, words, words, words, strict=False):
        if start <= offset // 2 < start + length:
            return depth >> 1
    return 0


def _numbers(table: bytes) -> Iterator[int]:
    """Numbers of six bits a byte, the highest first; bit 6 says that one more byte follows."""
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0
