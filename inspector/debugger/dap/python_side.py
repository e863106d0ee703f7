"""debugpy's own adapter as a child process; it speaks the protocol on its stdin and stdout."""

# SPDX-License-Identifier: MIT
import importlib.util
import socket
import subprocess
from typing import Final

from inspector.debugger.client import python
from inspector.debugger.dap.wire import Message, Messages
from inspector.errors import InspectorError

AT_ONCE: Final = """
import socket, sys
pydevd = sys.modules["pydevd"]
pydevd.get_global_debugger().writer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
"""
"""Run in the program: pydevd sends the head of a message and its body one by one, and the kernel keeps the
body back until the head is acknowledged, 40 ms later (Nagle's algorithm)."""
END_S: Final = 5.0
"""Seconds for it to end the session when its input is closed."""


class Joined(Messages):
    """The adapter of debugpy that debugs a program's parent: a child process is a further session of it."""

    def __init__(self, connect: Message) -> None:
        """Raises OSError where nobody listens there."""
        self._socket = socket.create_connection((connect.get("host"), connect["port"]), END_S)
        self._socket.settimeout(None)
        super().__init__(self._socket.fileno(), self._socket.fileno())


class PythonSide(Messages):
    """The started adapter of debugpy."""

    def __init__(self) -> None:
        """Raises InspectorError debugpy-missing."""
        if importlib.util.find_spec("debugpy") is None:
            raise InspectorError(
                "`inspector dap` debugs Python by debugpy, which is not installed.",
                slug="debugpy-missing",
                do="pip install 'native-inspector[debug]'",
            )
        self._child = subprocess.Popen(
            [python(), "-m", "debugpy.adapter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        super().__init__(self._child.stdout.fileno(), self._child.stdin.fileno())

    def close(self) -> None:
        """Close its input: it then leaves the program as debugpy does; kill it where it does not end."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            self._child.wait(END_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
