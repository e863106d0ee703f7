"""`freeze=True`: an input that cannot be changed; without a copy if that is safe, else as a copy.

Safe is memory of `bytes`, or of an array that owns it and that only variables refer to: then `writeable` is
set to False on that array, which its user sees. A view of it elsewhere could still write; one may exist if a
reference is not one of the caller's variables, so then the input is copied, and an event reports it. Numbers
of references a call itself makes differ between versions of Python: `calibrate` counts them. From 3.14 on a
call makes one less for a local variable of its caller: it only borrows what that owns.
"""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from inspector._native import LazyVector

_own_references: list[int] = []
"""Of a call with a value that has no name, and with a local variable."""


def frozen(x: Any) -> tuple[Any, str, int]:
    """(protected input, "freeze" or "copy" or "", bytes copied). Call it from the public function itself."""
    references = sys.getrefcount(x)
    if len(_own_references) < 2:
        _own_references.append(references - len(_own_references))
    if isinstance(x, LazyVector) or type(x) is bytes:
        return x, "", 0
    array = x if type(x) is np.ndarray else np.asarray(x)
    if _rests_on_bytes(array):
        return array, "", 0
    owns = bool(array.flags.owndata)
    if owns and (array is not x or references == _of_names(x, sys._getframe(2))):
        array.flags.writeable = False
        return array, "freeze", 0
    copied = array.copy()
    copied.flags.writeable = False
    return copied, "copy", int(copied.nbytes)


def calibrate(public: Callable[..., Any]) -> None:
    """Count the references that a call of `public(x, freeze=True)` itself holds."""
    public(np.empty(1, "u1"), freeze=True)
    sample = np.empty(1, "u1")
    public(sample, freeze=True)


def _rests_on_bytes(array: Any) -> bool:
    base: Any = array
    while type(base) is np.ndarray or type(base) is memoryview:
        base = base.obj if type(base) is memoryview else base.base
    return type(base) is bytes


def _of_names(x: Any, caller: FrameType) -> int:
    """The references to x where only variables of the caller, and the call, refer to it."""
    is_function = caller.f_locals is not caller.f_globals
    own = sum(value is x for value in list(caller.f_locals.values())) if is_function else 0
    shared = sum(value is x for value in list(caller.f_globals.values()))
    return own + shared + _own_references[own > 0]
