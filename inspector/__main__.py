"""`python -m inspector`: the same as the `inspector` program."""

import sys

from inspector.faces.cli import main

if __name__ == "__main__":
    sys.exit(main())
