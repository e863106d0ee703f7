"""Serve coding assistants by the Model Context Protocol (MCP).

Speaks on stdin and stdout. An assistant starts it by its settings:

  {"mcpServers": {"inspector": {"command": "inspector", "args": ["mcp"]}}}
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE, InspectorError

GROUP = "check this machine"


def prepare(_: argparse.ArgumentParser) -> None:
    """It has no arguments."""


def run(_: argparse.Namespace) -> int:
    """Serve until stdin is closed."""
    try:
        from inspector.faces.assistants.server import server
    except ImportError as error:
        raise InspectorError(
            "`inspector mcp` needs the package mcp, 2 or newer.",
            slug="mcp-missing",
            why=str(error)[:200],
            do="pip install 'native-inspector[mcp]'",
        ) from None
    server().run("stdio")
    return EXIT_DONE
