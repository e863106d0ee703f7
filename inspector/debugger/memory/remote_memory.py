"""Bounded, read-only access to another process's memory: bytes, words, strings; errors name the address."""

# SPDX-License-Identifier: MIT
import os
import struct
from typing import Final

_WORD: Final = struct.Struct("<Q")


class Unreadable(Exception):
    """An address that cannot be read."""


class RemoteMemory:
    """/proc/PID/mem of a process that we may trace (proc(5)); owns the file."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._file = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise Unreadable(f"/proc/{pid}/mem: {error.strerror}") from None

    def read(self, address: int, size: int) -> bytes:
        """Exactly `size` bytes; raises Unreadable."""
        try:
            read = os.pread(self._file, size, address)
        except (OSError, OverflowError):
            read = b""
        if len(read) < size:
            raise Unreadable(f"{address:#x}")
        return read

    def word(self, address: int) -> int:
        """8 bytes, as an unsigned number."""
        return int(_WORD.unpack(self.read(address, 8))[0])

    def text(self, address: int, limit: int = 200) -> str:
        """A C string, at most `limit` bytes, cut at the end of readable memory."""
        read = b""
        while len(read) < limit and b"\0" not in read:
            size = min(64, limit - len(read), 4096 - (address + len(read)) % 4096)
            read += self.read(address + len(read), size)
        return read.partition(b"\0")[0].decode("utf-8", "replace")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
