"""Run a notebook where the system refuses ptrace: refusing.py IN OUT. Kernels and gdb inherit the filter."""

# SPDX-License-Identifier: MIT
import errno
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "specimens"))

from refused_calls import ERRNO, PTRACE, refuse


def main(source: str, target: str) -> None:
    import nbclient
    import nbformat

    refuse(ERRNO | errno.EPERM, PTRACE)
    notebook = nbformat.read(source, as_version=4)
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    nbformat.write(notebook, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
