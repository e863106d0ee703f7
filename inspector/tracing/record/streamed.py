"""A trace of any length: every record is written to a file, and read back when the trace ends.

A ring keeps the last half million records of a thread; a stream keeps all of them, at 64 bytes a record.
Records that do not fit on the disk count as dropped.
"""

# SPDX-License-Identifier: MIT
import mmap
import os
import struct
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from inspector import _native
from inspector.errors import InspectorError, InspectorWarning
from inspector.tracing.events.decode import RECORD_BYTES

_CHUNK: Final = struct.Struct("<4Q")
"""RING_MAGIC, threading.get_ident(), number of records behind it, tid (native/trace/record/ring_drain.c)."""


class Stream:
    """The file of one trace: it has no name, and is deleted with the process or after reading."""

    def __init__(self, beside: str | Path | None) -> None:
        self.folder = str(Path(beside).absolute().parent) if beside is not None else None
        self._file: BinaryIO | None = None

    def begin(self) -> int:
        """A new file descriptor to write to, which the caller owns. Raises InspectorError unwritable-file."""
        try:
            self._file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 - until `end`
        except OSError as error:
            raise InspectorError(
                f"cannot stream a trace to {self.folder or tempfile.gettempdir()}: {error.strerror}.",
                slug="unwritable-file",
                do="save it elsewhere (out=), or set TMPDIR to a folder with room",
            ) from None
        return os.dup(self._file.fileno())

    def end(self, rows: Sequence[tuple[Any, ...]], failed: int) -> list[tuple[Any, ...]]:
        """The rows of `_native.ring_end`, each with all its records; the file is closed.

        `failed`: the errno that ended the writing, reported by an InspectorWarning; 0: none.
        """
        assert self._file is not None
        if failed:
            said = f"the trace's file took no more ({os.strerror(failed)}): its end is missing"
            warnings.warn(InspectorWarning(f"{said} [unwritable-file]"), stacklevel=2)
        with self._file as file:
            parts = _parts(file)
        self._file = None
        return [(*row[:-1], b"".join([*parts.pop(row[:2], ()), row[-1]])) for row in rows]


def _parts(file: BinaryIO) -> dict[tuple[int, int], list[bytes]]:
    """(ident, tid) -> the pieces of its records, in order."""
    found: dict[tuple[int, int], list[bytes]] = defaultdict(list)
    if os.fstat(file.fileno()).st_size:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            for thread, piece in _chunks(whole):
                found[thread].append(piece)
    return found


def _chunks(whole: mmap.mmap) -> Iterator[tuple[tuple[int, int], bytes]]:
    """The chunks, without a last one cut by a full disk: its records are still in the ring."""
    at = 0
    while at + _CHUNK.size <= len(whole):
        magic, ident, count, tid = _CHUNK.unpack_from(whole, at)
        assert magic == _native.RING_MAGIC
        start, at = at + _CHUNK.size, at + _CHUNK.size + count * RECORD_BYTES
        if at <= len(whole):
            yield (ident, tid), whole[start:at]
