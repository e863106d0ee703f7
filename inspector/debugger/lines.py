"""Messages between client, broker and agent: one JSON object a line over a stream socket."""

# SPDX-License-Identifier: MIT
import json
import select
import socket
import struct
from collections.abc import Iterator
from typing import Any, Final

from inspector.errors import InspectorError

Message = dict[str, Any]
LINE_BYTES_MAX: Final = 64 << 20
"""A longer line is an error of the other side."""
_CREDENTIALS: Final = struct.Struct("3i")
"""struct ucred: process, user, group."""


class Lines:
    """The messages of one socket, split at line ends."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self._left = b""

    def fileno(self) -> int:
        """For selectors."""
        return self.stream.fileno()

    def send(self, **message: Any) -> None:
        """Send one message; blocks until the kernel has accepted it."""
        self.stream.sendall(json.dumps(message).encode() + b"\n")

    def waits(self, seconds: float) -> bool:
        """Whether nothing can be read within so many seconds."""
        watched = select.poll()
        watched.register(self.stream, select.POLLIN)
        return not watched.poll(seconds * 1000)

    def receive(self) -> Iterator[Message]:
        """The messages that one read completes. Raises EOFError when the other side has closed."""
        try:
            read = self.stream.recv(1 << 16)
        except (BlockingIOError, TimeoutError):
            return
        except OSError:
            read = b""
        if not read or len(self._left) > LINE_BYTES_MAX:
            raise EOFError
        *whole, self._left = (self._left + read).split(b"\n")
        yield from map(json.loads, whole)

    def peer(self) -> int:
        """The process at the other end, as it was when it connected (SO_PEERCRED of unix(7))."""
        told = self.stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(told)[0])

    def close(self) -> None:
        """Close the socket."""
        self.stream.close()


def over(why: str) -> InspectorError:
    """The error for a session with gdb that has ended."""
    do = "collected hits are kept; begin another session for more"
    return InspectorError("the session with gdb is over.", slug="gdb-ended", why=why, do=do)
