"""Compile text without the compiler's warnings: the user's own run of the text shows them."""

# SPDX-License-Identifier: MIT
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress SyntaxWarning and similar ones (`5 is 5`, "\\d") in the block, where text is compiled.

    An expression is parsed several times before it is evaluated, and a line of source was compiled before:
    each time would warn again. An error stays an error.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
