"""Types of C whose objects may keep memory that neither `__sizeof__` nor `tp_traverse` tells."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from typing import Final

from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.objects.classes import full_name, is_heap_type, type_bases
from inspector.objects.layers.plain import plain

_PLAIN: Final = (int, float, complex, str, bytes, bytearray, bool, type(None), dict, list, tuple)
_BASE: Final = type.__dict__["__base__"].__get__
_HIDE: Final = (
    *("zlib", "_bz2", "_lzma", "_ssl", "_hashlib", "pyexpat", "_csv", "_tkinter", "_dbm", "_gdbm"),
)
"""Modules of Python whose objects keep memory of a C library's."""
_HIDES: Final = ("_thread._local",)
"""It keeps a dict for each thread, where the collector finds them: with the threads."""


def is_opaque(kind: type) -> bool:
    """Whether its objects may keep bytes that nothing tells: a C type of a library without an adapter."""
    if any(kind is known for known in _PLAIN) or adapter_of(kind) is not None or plain(kind) is not None:
        return False
    return any(map(is_foreign, type_bases(kind)))


def is_foreign(base: type) -> bool:
    """Whether a class is made in C, by others than Python and NumPy, whose types tell what they keep."""
    top = full_name(base).partition(".")[0] if "." in full_name(base) else "builtins"
    if top == "builtins":  # pyo3's classes have this module too
        known = base is object or not is_heap_type(base)
    else:
        hides = top in _HIDE or full_name(base) in _HIDES
        known = not hides and (top in sys.stdlib_module_names or top == "numpy")
    if known:
        return False
    row = _native.type_layout(_native.Subject(base))
    return row is None or bool(row["origin"] and _adds_fields(row, base))


def _adds_fields(row: _native.TypeRow, base: type) -> bool:
    """Whether its C struct is larger than its base's, by more than the one item some structs begin with."""
    above = _native.type_layout(_native.Subject(_BASE(base)))
    return above is None or bool(row["basicsize"] - above["basicsize"] > above["itemsize"])
