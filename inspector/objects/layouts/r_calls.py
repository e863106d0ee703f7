"""What R had before reticulate converted it: the argument of the call that Python is in."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from inspector.objects.layouts.r_objects import header
from inspector.objects.layouts.r_vectors import elements, item, texts

T = TypeVar("T")
_ASKS: Final = """(function() {
    for (n in rev(seq_len(sys.nframe() - 1L))) {
        if (!identical(topenv(environment(sys.function(n))), asNamespace("reticulate"))) next
        frame <- sys.frame(n)
        given <- c(frame$dots$args, frame$call_args$unnamed)
        if (!length(given) || inherits(given[[1L]], "python.builtin.object")) next
        call <- sys.call(n)
        text <- if (length(call) > 1L) paste(deparse(call[[2L]], nlines = 1L), collapse = "") else ""
        return(list(given[[1L]], text))
    }
})()"""
"""R: the first argument of the innermost call through reticulate, as R had it, and its text."""


def given_by_r(use: Callable[[int, str], T]) -> T | None:
    """`use(address, text)` of what R gave; None where nothing was given, or it was Python's own object."""
    r = _libr()
    if r is None:
        return None
    failed, status = ctypes.c_int(0), ctypes.c_int(0)
    nil, base = (ctypes.c_void_p.in_dll(r, name) for name in ("R_NilValue", "R_BaseEnv"))
    source = r.Rf_protect(r.Rf_mkString(_ASKS.encode()))
    parsed = r.Rf_protect(r.R_ParseVector(source, -1, ctypes.byref(status), nil))
    call = item(parsed_one, 0) if status.value == 1 and (parsed_one := header(parsed)) else None
    found = r.R_tryEvalSilent(call.address, base, ctypes.byref(failed)) if call is not None else None
    held = header(r.Rf_protect(found)) if found and not failed.value else None
    try:
        pointers = elements(held) if held is not None else None
        if held is None or not pointers or len(pointers) != 2:
            return None
        text = texts(item(held, 1), 1)
        return use(int(pointers[0]), text[0] or "" if text else "")
    finally:
        r.Rf_unprotect(2 + (held is not None))


def _libr() -> Any:
    """libR, with the functions that are called; None in other threads: R has one thread."""
    if threading.current_thread() is not threading.main_thread():
        return None
    try:
        r = ctypes.PyDLL("libR.so", mode=os.RTLD_NOLOAD)
    except OSError:
        return None
    word, number, pointer = ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_int)
    takes = {
        "Rf_protect": (word,), "Rf_mkString": (ctypes.c_char_p,),
        "R_ParseVector": (word, number, pointer, word), "R_tryEvalSilent": (word, word, pointer),
    }  # fmt: skip
    for name, arguments in takes.items():
        function = getattr(r, name)
        function.restype, function.argtypes = word, arguments
    return r
