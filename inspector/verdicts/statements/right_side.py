"""The right side of a statement, parsed once for all that ask what is written there."""

# SPDX-License-Identifier: MIT
import ast
import warnings
from functools import lru_cache


@lru_cache(1024)
def right_side(text: str) -> ast.expr | None:
    """What a statement binds or returns; None if it does neither, or is the head of a compound one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an escape as in "\\d": the user's own run has shown it
            return getattr(ast.parse(text).body[0], "value", None)
    except (SyntaxError, IndexError, ValueError, RecursionError, MemoryError):
        return None


def last_call(text: str) -> str:
    """The name of the function whose result a statement binds or returns: "ravel" of `x.T.ravel()`."""
    call = right_side(text)
    function = call.func if isinstance(call, ast.Call) else None
    return str(getattr(function, "attr", getattr(function, "id", "")))
