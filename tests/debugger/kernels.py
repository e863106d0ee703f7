"""Real Jupyter kernels for the debugger's tests, and what their cells show."""

# SPDX-License-Identifier: MIT
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel


@contextlib.contextmanager
def kernel(folder: Path, **environment: str) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """A kernel of this Python, the extension loaded. `folder` is not the checkout: its sources would load."""
    given = os.environ | {"IPYTHONDIR": str(folder)} | environment
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120, cwd=str(folder), env=given)
    try:
        client.execute_interactive("%load_ext inspector", timeout=120, output_hook=lambda _: None)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client: BlockingKernelClient, cell: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(reply, output messages) of a cell."""
    sent: list[dict[str, Any]] = []
    reply = client.execute_interactive(cell, output_hook=sent.append, timeout=200)
    return reply["content"], sent


def shown(client: BlockingKernelClient, cell: str) -> list[str]:
    """What a cell displays and prints, as text."""
    found: list[str] = []
    for message in run(client, cell)[1]:
        content = message["content"]
        if message["msg_type"] in ("display_data", "execute_result"):
            found.append(content["data"]["text/plain"])
        elif message["msg_type"] == "stream":
            found.append(content["text"])
        elif message["msg_type"] == "error":
            found.append(f"{content['ename']}: {content['evalue']}")
    return found
