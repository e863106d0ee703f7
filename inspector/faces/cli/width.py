"""The width of the terminal."""

# SPDX-License-Identifier: MIT
import os
import sys
from typing import Final

WIDTH: Final = 80
NARROWEST: Final = 20


def columns() -> int:
    """Cells of a line: COLUMNS, else the terminal's, else 80. (shutil imports three compressors.)"""
    fixed = os.environ.get("COLUMNS", "")
    if fixed.isdigit() and int(fixed):
        return max(int(fixed), NARROWEST)
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, NARROWEST)
    except (OSError, ValueError):
        return WIDTH
