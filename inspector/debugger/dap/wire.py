"""Messages of the Debug Adapter Protocol: a header with Content-Length, then JSON.

https://microsoft.github.io/debug-adapter-protocol/overview#base-protocol
"""

# SPDX-License-Identifier: MIT
import json
import os
import re
from collections.abc import Iterator
from typing import Any, Final, Protocol

Message = dict[str, Any]
BODY_BYTES_MAX: Final = 64 << 20
HEADER_BYTES_MAX: Final = 1 << 14
_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"content-length: *(\d{1,9}) *$", re.IGNORECASE | re.MULTILINE)
_KINDS: Final = {"request": "command", "response": "request_seq", "event": "event"}


class Stream(Protocol):
    """What an adapter speaks with: a stream of bytes, or another thread."""

    def fileno(self) -> int:
        """Readable when messages have come."""

    def send(self, message: Message) -> None:
        """Send one message."""

    def receive(self) -> Iterator[Message | str]:
        """The messages that have come. Raises EOFError."""


class Messages:
    """The messages of one stream, both ways."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._left = b""

    def fileno(self) -> int:
        """For selectors."""
        return self._reads

    def send(self, message: Message) -> None:
        """Send one message; raises OSError where the other side has closed."""
        body = json.dumps(message, separators=(",", ":")).encode()
        left = memoryview(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        while left:
            left = left[os.write(self._writes, left) :]

    def receive(self) -> Iterator[Message | str]:
        """The messages that one read completes; a text says what is wrong with one. Raises EOFError."""
        try:
            read = os.read(self._reads, 1 << 16)
        except ConnectionError:
            read = b""
        if not read:
            raise EOFError
        self._left += read
        while (found := self._next()) is not None:
            yield found

    def _next(self) -> Message | str | None:
        head, end, rest = self._left.partition(_END)
        if not end:
            if len(self._left) <= HEADER_BYTES_MAX:
                return None
            self._left = b""
            return "no header ends within 16 kB"
        length = _LENGTH.search(head.replace(b"\r", b""))
        if length is None or int(length[1]) > BODY_BYTES_MAX:
            self._left = rest
            return "a header without a Content-Length of at most 64 MB"
        size = int(length[1])
        if len(rest) < size:
            return None
        body, self._left = rest[:size], rest[size:]
        return _message(body)


def _message(body: bytes) -> Message | str:
    try:
        read = json.loads(body)
    except (ValueError, RecursionError) as error:
        return f"a body that is no JSON: {error}"[:200]
    return checked(read)


def checked(read: Any) -> Message | str:
    """A message that a client sent, or what is wrong with it."""
    if not isinstance(read, dict) or read.get("type") not in _KINDS or _KINDS[read["type"]] not in read:
        return "a body that is no request, response or event"
    if read["type"] == "request" and not (
        isinstance(read.get("seq"), int) and isinstance(read["command"], str)
    ):
        return "a request without a number seq"
    if read["type"] == "response" and not isinstance(read["request_seq"], int):
        return "a response without a number request_seq"
    if not isinstance(read.get("arguments", {}) or {}, dict):
        return "a request whose arguments are no object"
    return read
