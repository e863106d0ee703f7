"""`python -m inspector`: the same as the `inspector` program."""

# SPDX-License-Identifier: MIT
import sys

from inspector.faces.cli import main

if __name__ == "__main__":
    sys.exit(main())
