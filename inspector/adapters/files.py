"""Files of the io module: open or closed; a BytesIO shares its initial bytes until a write."""

# SPDX-License-Identifier: MIT
import gc
import io
import sys
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_name
from inspector.adapters.beyond import Beyond, Counted
from inspector.adapters.told import Layer, Told, attribute, field
from inspector.facts.amounts import counted, size
from inspector.facts.memory import Range
from inspector.facts.unknown import Address, Unknown

WORD = 8
HEAD = object.__basicsize__
BUFFER, POSITION, SIZE = HEAD, HEAD + WORD, HEAD + 2 * WORD
"""Offsets in the struct `bytesio` (Modules/_io/bytesio.c): buf, pos, string_size."""
TEXT_SIZE, STATE, TEXTS, UCS4 = HEAD + 3 * WORD, HEAD + 4 * WORD, (HEAD + 5 * WORD, HEAD + 6 * WORD), 4
"""Offsets in `stringio` (Modules/_io/stringio.c): buf_size, state, the writer's str (up to CPython 3.11 two
lists, from 3.14 on a pointer to the writer); bytes of a character in buf."""
ACCUMULATING = 2
"""State in which what was written is not in buf yet."""
PAYLOAD = sys.getsizeof(b"") - 1
"""Offset of the bytes in a bytes object."""
_BUFFERED = (io.BufferedReader, io.BufferedWriter, io.BufferedRandom)
_EXACT = (io.FileIO, io.TextIOWrapper, *_BUFFERED, io.StringIO, io.BytesIO)


class Files(Adapter):
    """Exact types over exact types: a user's raw file is not asked."""

    def types(self) -> tuple[type, ...]:
        """FileIO, the buffered files, TextIOWrapper, StringIO, BytesIO."""
        return _EXACT

    def self_test(self) -> None:
        """A BytesIO shares its initial bytes until a write."""
        content = bytes([1]) * 100
        made = io.BytesIO(content)
        before = _bytes(made)
        made.write(b"x")
        after = _bytes(made)
        if before is None or before[:2] != (id(content), 100) or before[2] < 2:
            raise ValueError("a BytesIO does not share the bytes it was made of")
        if after is None or (after[0] == id(content)) or after[2] != 1:
            raise ValueError("a written BytesIO still shares")

    def beyond(self, x: Any, found: Beyond) -> None:
        """What a StringIO holds: what was written, as str, or a block of characters."""
        if type(x) is not io.StringIO:
            return
        block, length, state, *texts = (_word(id(x) + at) for at in (BUFFER, TEXT_SIZE, STATE, *TEXTS))
        if sys.version_info >= (3, 14):
            texts = [_word(texts[0])] if texts[0] else []
        written = tuple(one for one in texts if one and _word(one + HEAD - WORD) in (id(str), id(list)))
        if state & 0xFFFFFFFF != ACCUMULATING:
            found.add_block(id(x), block, length * UCS4, "StringIO's characters")
        elif written:
            found.add(Counted(id(x), 0, 0, "", (0, 0), written))

    def layers(self, x: Any) -> Told:
        """closed or computed; a BytesIO's bytes as a buffer."""
        closed = _closed(x)
        if isinstance(closed, Unknown):
            return Told((Layer("wrapper", type_name(type(x)), closed, closed),), state=closed)
        in_memory = _native.exactly(_below(x), io.BytesIO, io.StringIO)
        storage: Any = "none" if closed else "heap" if in_memory else "remote/on disk"
        value: Any = "closed" if closed else "computed"
        seen = (attribute("x.closed", closed),)
        wrapper = Layer("wrapper", type_name(type(x)), value, storage, "owned", seen)
        words = ""
        if type(x) is io.StringIO and not closed:
            words = f"Holds a text of {counted(_word(id(x) + SIZE), 'character')}."
        elif in_memory and type(x) is not io.BytesIO and not closed:
            words = f"Open, over a {type_name(type(_below(x)))}: its data is in memory."
        shared = _shared(x) if type(x) is io.BytesIO and not closed else ()
        if shared and shared[0].title == "cow":
            whole = size(shared[0].spans[0].bytes)
            words = f"Shares its {whole} with the bytes that it was made of: the first write copies them."
        return Told((wrapper, *shared), in_words=words)


def _closed(x: Any) -> bool | Unknown:
    """`x.closed`, if only C code answers: a text file asks its buffer, which asks its raw file."""
    if _below(x) is None:
        return Unknown("it is made over a file of another type, whose code would answer")
    return bool(x.closed)


def _below(x: Any) -> Any:
    """The innermost file that a file is made over; None if that is of another type."""
    below = x
    while not _native.exactly(below, io.FileIO, io.StringIO, io.BytesIO):
        inner = [held for held in gc.get_referents(below) if _native.exactly(held, *_EXACT)]
        if not inner:
            return None
        below = inner[0]
    return below


def _bytes(x: io.BytesIO) -> tuple[int, int, int] | None:
    """(address of the bytes object, bytes written, references to it); None if it cannot be read."""
    raw = _native.read(id(x) + BUFFER, 3 * WORD)
    if raw is None:
        return None
    content, _, size = (int.from_bytes(raw[i : i + WORD], "little") for i in range(0, 3 * WORD, WORD))
    counts = _native.read(content, HEAD - WORD) if content else None
    return None if counts is None else (content, size, _references(counts))


def _references(counts: bytes) -> int:
    """The refcount in the words before an object's type; a free-threaded CPython has one of the owning thread
    and one of all others, above two bits of state."""
    if len(counts) == WORD:
        return int.from_bytes(counts, "little") & 0xFFFFFFFF
    local, shared = counts[WORD + 4 : 2 * WORD], counts[2 * WORD :]
    return int.from_bytes(local, "little") + (int.from_bytes(shared, "little", signed=True) >> 2)


def _word(address: int) -> int:
    return int.from_bytes(_native.read(address, WORD) or b"", "little")


def shares_its_bytes(x: io.BytesIO) -> bool:
    """Whether its first write copies: something else refers to its bytes object too."""
    found = _bytes(x)
    return found is not None and found[2] > 1


def _shared(x: io.BytesIO) -> tuple[Layer, ...]:
    found = _bytes(x)
    if found is None or not found[1]:
        return ()
    content, length, references = found
    start = content + PAYLOAD
    span = Range(Address(start), Address(start + length))
    title: Any = "cow" if references > 1 else "owned"
    would = ("a write copies",) if references > 1 else ()
    seen = (field("references of its bytes", references),)
    return (Layer("buffer", f"bytes ({length:,},)", "computed", "heap", title, seen, would, (), (span,), 1),)


ADAPTER = Files()
