"""Counts of the tests: small ones for `make test`, large ones for `make soak` (INSPECTOR_SOAK=1)."""

# SPDX-License-Identifier: MIT
import os

SOAK = os.environ.get("INSPECTOR_SOAK") == "1"


def rounds(test: int, soak: int) -> int:
    """How often: `test` times, or `soak` times in the long run. docs/benchmarks.md lists them."""
    return soak if SOAK else test
