"""Print a completion script for bash or zsh.

Bash:  inspector completion bash > \\
         ~/.local/share/bash-completion/completions/inspector
zsh:   inspector completion zsh > _inspector     in a folder of $fpath
"""

# SPDX-License-Identifier: MIT
import argparse
import sys

from inspector.errors import EXIT_DONE, InspectorError

GROUP = "check this machine"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=("bash", "zsh"), help="the shell to complete in")


def run(options: argparse.Namespace) -> int:
    """Print the script for all commands."""
    from inspector.faces.cli import commands, parser

    try:
        import shtab
    except ModuleNotFoundError:
        raise InspectorError(
            "completion needs the package shtab.",
            slug="missing-package",
            why="it is in the extra `completion`",
            do="pip install 'native-inspector[completion]'",
        ) from None
    sys.stdout.write(shtab.complete(parser(commands()), shell=options.shell) + "\n")
    return EXIT_DONE
