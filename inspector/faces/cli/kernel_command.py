"""Install a Jupyter kernel that debugs both Python and native code.

  inspector kernel install     add "Python 3 (native debugging)" to Jupyter
  inspector kernel remove      remove it
  inspector kernel run --file FILE   what Jupyter calls to start the kernel

By default it is installed beside this Python; --user and --prefix say where else.
"""

# SPDX-License-Identifier: MIT
import argparse
import sys

from inspector.errors import EXIT_DONE, InspectorError

GROUP = "inspect running programs"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("question", choices=("install", "remove", "run"), help="what to do")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--user", dest="prefix", action="store_const", const="", help="for this user, in every environment"
    )
    where.add_argument(
        "--sys-prefix", dest="prefix", action="store_const", const=sys.prefix, help="the default"
    )
    where.add_argument("--prefix", metavar="FOLDER", help="below this folder: FOLDER/share/jupyter/kernels")
    parser.add_argument("--file", metavar="FILE", help="the connection file, for run")
    parser.set_defaults(prefix=sys.prefix)


def run(options: argparse.Namespace) -> int:
    """Install, remove, or be the kernel."""
    from inspector.sessions import running

    if options.question == "run":
        if options.file is None:
            raise InspectorError("run needs --file.", slug="bad-option", do="inspector kernel install")
        return running.serve_kernel(options.file)
    if options.question == "install":
        print(f"installed {running.install_kernel(options.prefix)}")
    else:
        print(f"removed {running.remove_kernel(options.prefix)}")
    return EXIT_DONE
