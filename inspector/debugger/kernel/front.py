"""The main thread of the process in front of ipykernel: channels and signals."""

# SPDX-License-Identifier: MIT
import signal
import socket
import threading

from inspector.debugger.kernel import connection, session
from inspector.debugger.kernel.channels import Channels
from inspector.debugger.kernel.debug_requests import GO_ON, LEAVE, DebugRequests
from inspector.debugger.kernel.ipykernel import Ipykernel
from inspector.debugger.kernel.mailbox import Mailbox


class Front:
    """The channels of one kernel. The debug session, which waits for gdb, has a thread of its own."""

    def __init__(
        self, given: connection.Connection, inside: connection.Connection, kernel: Ipykernel
    ) -> None:
        self._kernel = kernel
        self._channels = Channels(given, inside)
        editor, python = Mailbox(), Mailbox()
        self._debug = DebugRequests(self._channels, given, editor, python)
        self._ended = False
        self._channels.watch(kernel.pidfd, self._end)
        self._catch_signals()
        arguments = (editor.other, python.other, kernel.pid)
        threading.Thread(target=session.serve, args=arguments, daemon=True).start()

    def run(self) -> int:
        """Serve until the kernel ends."""
        while not self._ended:
            self._channels.poll()
        code = self._kernel.ended()
        self._channels.close(self._kernel.pidfd)
        return code if code >= 0 else 128 - code

    def _end(self) -> None:
        self._ended = True

    def _catch_signals(self) -> None:
        self._came, wakes = socket.socketpair()
        self._came.setblocking(False)
        wakes.setblocking(False)
        self._wakes = wakes
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        self._channels.watch(self._came.fileno(), self._hear_signals)

    def _hear_signals(self) -> None:
        for number in self._came.recv(64):
            self._debug.tell(GO_ON if number == signal.SIGINT else LEAVE)
            self._kernel.signal(number)
