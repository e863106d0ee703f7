"""Exceptions: where one was raised."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, field

MOST_CALLS = 10_000
"""Steps of a traceback that are followed."""
_TRACEBACK = vars(BaseException)["__traceback__"]


class Exceptions(Adapter):
    """Every exception: the C struct that all have keeps the traceback."""

    def families(self) -> Iterable[type]:
        """BaseException with all subclasses."""
        return (BaseException,)

    def self_test(self) -> None:
        """The place where a caught exception was raised."""
        error = Exception()
        try:
            raise error
        except Exception:
            found = _raised(error)
        error.__traceback__ = None  # it keeps this frame, and those that called it with the user's object
        if found[:1] != ("Exceptions.self_test",) or _raised(error):
            raise ValueError("a traceback does not name the function that raised")

    def layers(self, x: Any) -> Told:
        """Computed; in words where it was raised."""
        found = _raised(x)
        seen = field("traceback", "NULL" if not found else f"{found[0]}, {found[1]}")
        words = f"Raised in `{found[0]}`, {found[1]}." if found else "Has no traceback: it keeps no frame."
        return Told(
            (Layer("wrapper", type_name(type(x)), "computed", "inline", "owned", (seen,)),), in_words=words
        )


def _raised(x: BaseException) -> tuple[str, ...]:
    """(function, "file:line") of the innermost step of its traceback; () without one."""
    step, calls = _TRACEBACK.__get__(x), 0
    if step is None:
        return ()
    while step.tb_next is not None and calls < MOST_CALLS:
        step, calls = step.tb_next, calls + 1
    code = step.tb_frame.f_code
    return code.co_qualname, f"{code.co_filename.rpartition('/')[2]}:{step.tb_lineno}"


ADAPTER = Exceptions()
