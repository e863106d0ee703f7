"""Objects that the adapter `ctypes_memory` is tried on."""

# SPDX-License-Identifier: MIT
import ctypes


class Pair(ctypes.Structure):
    """A structure of the user's."""

    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_double))


def samples():
    """Own memory, a pointer, a field of another."""
    yield from ((ctypes.c_int * 3)(1, 2, 3), Pair(1, 2.0), ctypes.pointer(Pair()), ctypes.c_char_p(b"text"))
    yield (Pair * 2)()[1]
