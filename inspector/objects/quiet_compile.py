"""Text read as Python without a word of the compiler: what warns of a text is the user's own run of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unwarned() -> Iterator[None]:
    """Leave out SyntaxWarning and its kin (`5 is 5`, "\\d") in the block, where a text is parsed or compiled.

    An expression is parsed several times before it is evaluated, and a line of source was compiled before:
    each time would warn again. An error stays an error.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
