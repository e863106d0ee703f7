"""Which allocator this Python runs on: the debug one overwrites what is freed, and prefixes objects."""

# SPDX-License-Identifier: MIT
import os
import sys

DEBUG = sys.flags.dev_mode or os.environ.get("PYTHONMALLOC", "").endswith("debug")
"""`python -X dev`, or PYTHONMALLOC=debug and its like (PEP 445)."""
