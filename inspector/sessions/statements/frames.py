"""What a frame says of its code: whose it is, and what package a call begins with."""

# SPDX-License-Identifier: MIT
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from opcode import opmap
from types import CodeType, FrameType
from typing import Final

from inspector.adapters.base import type_module
from inspector.objects.call_site import is_users
from inspector.objects.classes import module_names, type_bases
from inspector.sessions.statements import values

_MAY_WAIT: Final = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_YIELD: Final = opmap["YIELD_VALUE"]
_RESUME: Final = opmap["RESUME"]
_EMPTY: Final = 6
"""Bytes of code that PyCode_NewEmpty makes."""


def is_generated(frame: FrameType) -> bool:
    """Whether its code was written by a library as text: methods of its dataclasses and namedtuples."""
    if frame.f_code.co_filename != "<string>":
        return False
    file, name = (str(frame.f_globals.get(key, "")) for key in ("__file__", "__name__"))
    return not is_users(file) if file else name != "__main__"


def is_expression(frame: FrameType) -> bool:
    """Whether its code is a part of a statement of another one: a lambda, a comprehension, a generator."""
    return frame.f_code.co_name in ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def raised_by_user(error: Exception) -> bool:
    """Whether a function of the user's raised it: a signal handler that ran meanwhile."""
    step = error.__traceback__
    while step is not None and not _is_users(step.tb_frame.f_code):
        step = step.tb_next
    return step is not None


def _is_users(code: CodeType) -> bool:
    """Whether code of the user's runs; what stands for a function of C, as Cython's "_lib.pyx", has none."""
    return len(code.co_code) > _EMPTY and is_users(code.co_filename)


def library(frame: FrameType, root: str) -> str:
    """The package of the module, or of the type of the object, that a call begins with."""
    found = values.named(frame, root) if root else ()
    if not found:
        return ""
    if (names := module_names(found[0])) is not None:
        return str(names.get("__name__", "")).partition(".")[0]
    kind = type(found[0])
    of_class = kind is not type and any(base is type for base in type_bases(kind))
    return type_module(found[0] if of_class else kind).partition(".")[0]  # not "abc" of a class with ABCMeta


def is_suspended(frame: FrameType) -> bool:
    """Whether a generator or a coroutine stands at a `yield` or an `await`, or goes on there."""
    code, at = frame.f_code, frame.f_lasti
    if not code.co_flags & _MAY_WAIT or at < 0:
        return False
    opcode, after = code.co_code[at], code.co_code[at + 1]
    return opcode == _YIELD or (opcode == _RESUME and after != 0)  # 0: where the code begins
