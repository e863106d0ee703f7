"""Exceptions: where one was raised."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, field

_TRACEBACK = vars(BaseException)["__traceback__"]
_BEFORE = (vars(BaseException)["__context__"], vars(BaseException)["__cause__"])


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
        words = f"Raised in `{found[0]}`, {found[1]}." if found else _without(x)
        return Told(
            (Layer("wrapper", type_name(type(x)), "computed", "inline", "owned", (seen,)),), in_words=words
        )


def _without(x: BaseException) -> str:
    """Of an exception without a traceback: another one that it followed may have one."""
    if any(one.__get__(x) is not None for one in _BEFORE):
        return "Has no traceback of its own; the exception that it followed may keep frames."
    return "Has no traceback: it keeps no frame."


def _raised(x: BaseException) -> tuple[str, ...]:
    """(function, "file:line") of the innermost step of its traceback; () without one."""
    step = _TRACEBACK.__get__(x)
    if step is None:
        return ()
    while step.tb_next is not None:
        step = step.tb_next
    code = step.tb_frame.f_code
    return code.co_qualname, f"{code.co_filename.rpartition('/')[2]}:{step.tb_lineno}"


ADAPTER = Exceptions()
