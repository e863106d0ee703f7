"""The tree of a statement's text, made once."""

# SPDX-License-Identifier: MIT
import ast
from functools import lru_cache

from inspector.objects.quiet_compile import quietly


@lru_cache(1024)
def tree(text: str) -> ast.stmt | None:
    """The statement; None of the head of a compound one, and of an empty text. Nobody may change it."""
    try:
        with quietly():
            return ast.parse(text).body[0]
    except (SyntaxError, IndexError, ValueError, RecursionError, MemoryError):
        return None
