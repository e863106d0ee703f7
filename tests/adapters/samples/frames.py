"""Frames that run and that do not, and code."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any


def _left():
    """A frame that has ended."""
    return sys._getframe()


def samples() -> list[Any]:
    return [sys._getframe(), _left(), samples.__code__]
