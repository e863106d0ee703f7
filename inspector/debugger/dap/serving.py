"""Serve one editor: on stdin and stdout, or on a port of this machine."""

# SPDX-License-Identifier: MIT
import contextlib
import socket
import sys

from inspector.debugger.dap.adapter import Adapter
from inspector.debugger.dap.python_side import PythonSide
from inspector.debugger.dap.wire import Messages
from inspector.errors import InspectorError


def serve(port: int) -> None:
    """Serve until the editor leaves. Raises InspectorError debugpy-missing, port-taken."""
    if not port:
        _session(Messages(sys.stdin.fileno(), sys.stdout.fileno()))
        return
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise InspectorError(
                f"port {port} cannot be used.", slug="port-taken", why=str(error), do="give another --port"
            ) from None
        listener.listen(1)
        stream, _ = listener.accept()
    with stream:
        _session(Messages(stream.fileno(), stream.fileno()))


def _session(editor: Messages) -> None:
    try:
        python = PythonSide()
    except InspectorError as error:
        _refuse_all(editor, error)
        raise
    with contextlib.closing(python), contextlib.closing(Adapter(editor, python)) as adapter:
        adapter.run()


def _refuse_all(editor: Messages, error: InspectorError) -> None:
    """Answer the editor's first request with the error, so that the editor shows it."""
    with contextlib.suppress(EOFError, OSError):
        for message in editor.receive():
            if isinstance(message, dict) and message["type"] == "request":
                head = {"type": "response", "seq": 1, "request_seq": message["seq"], "success": False}
                editor.send({**head, "command": message["command"], "message": str(error)})
                return
