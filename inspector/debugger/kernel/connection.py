"""The connection file of a kernel: where its five channels are, and the key of its signatures.

https://jupyter-client.readthedocs.io/en/stable/kernels.html#connection-files
"""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any, Final

from inspector.errors import InspectorError

Connection = dict[str, Any]
CHANNELS: Final = ("shell", "iopub", "stdin", "control", "hb")


def read(file: str) -> Connection:
    """What a front end wrote. Raises InspectorError no-connection."""
    try:
        found = json.loads(Path(file).read_text())
        [address(found, channel) for channel in CHANNELS]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InspectorError(
            "there is no connection file of a kernel.",
            slug="no-connection",
            why=f"{file}: {type(error).__name__} {error}"[:200],
            do="let JupyterLab or `jupyter console` start this kernel: inspector kernel install",
        ) from None
    return dict(found)


def address(connection: Connection, channel: str) -> str:
    """Where a channel is, for ZeroMQ."""
    between = ":" if connection["transport"] == "tcp" else "-"
    return f"{connection['transport']}://{connection['ip']}{between}{connection[f'{channel}_port']}"


def written_inside(given: Connection, folder: Path) -> Connection:
    """The connection of the kernel behind us: the same key, its channels in files of `folder`."""
    ports = {f"{channel}_port": number for number, channel in enumerate(CHANNELS, 1)}
    inside = {**given, **ports, "transport": "ipc", "ip": str(folder / "channel")}
    (folder / "kernel.json").write_text(json.dumps(inside))
    return inside
