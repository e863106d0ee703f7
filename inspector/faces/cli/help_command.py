"""Say what to type: for each thing that can be wrong, the command.

inspector help            what is wrong, and what to type
inspector help COMMAND    the same as inspector COMMAND --help
"""

# SPDX-License-Identifier: MIT
import argparse
import sys
from typing import Final

from inspector.errors import EXIT_DONE

GROUP = "check this machine"
SYMPTOMS: Final = """\
What is wrong?   Type                              In a notebook

memory grows     inspector memory --script app.py  %inspect --memory
it hangs         inspector stacks PID              the same, in a terminal
it died          inspector crash core              %%inspect_debug
it is slow       inspector trace app.py            %%inspect_trace
it is read-only  inspector show x --script app.py  %inspect x
lost digits      inspector trace app.py            %%inspect_trace

inspector COMMAND --help describes a command; inspector --help lists all.
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", nargs="?", metavar="COMMAND", help="a command")


def run(options: argparse.Namespace) -> int:
    """Print the symptoms, or a command's help."""
    if options.name:
        from inspector.faces.cli import main

        return main([options.name, "--help"])
    sys.stdout.write(SYMPTOMS)
    return EXIT_DONE
