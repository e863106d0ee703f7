"""Debug Python and native code from an editor that speaks DAP.

The Debug Adapter Protocol on stdin and stdout, or with the first editor that connects to --port.
docs/how-to/set_up_your_editor.md has the settings of VS Code, Neovim, Emacs and Zed.
"""

# SPDX-License-Identifier: MIT
import argparse

from inspector.errors import EXIT_DONE

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--port", type=int, default=0, metavar="N", help="listen on this port of 127.0.0.1")


def run(options: argparse.Namespace) -> int:
    """Serve one session."""
    from inspector.sessions import running

    running.serve_editor(options.port)
    return EXIT_DONE
