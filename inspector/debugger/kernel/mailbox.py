"""Messages between two threads, with the interface of a stream of the protocol (dap/wire.py)."""

# SPDX-License-Identifier: MIT
import contextlib
import os
from collections import deque
from collections.abc import Iterator
from typing import Self

from inspector.debugger.dap.wire import Message


class Mailbox:
    """One thread's end: what it sends the other end receives. A send never waits."""

    def __init__(self, other: Self | None = None) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._came: deque[Message] = deque()
        self.other: Mailbox = other or Mailbox(self)

    def fileno(self) -> int:
        """Readable while messages wait."""
        return self._fd

    def send(self, message: Message) -> None:
        """Send a message to the other end."""
        self.other._came.append(message)
        os.eventfd_write(self.other._fd, 1)

    def receive(self) -> Iterator[Message]:
        """The messages that came."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._fd)
        while self._came:
            yield self._came.popleft()
