"""Which allocator this Python runs on, and malloc's own account."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import sys

DEBUG = sys.flags.dev_mode or os.environ.get("PYTHONMALLOC", "").endswith("debug")
"""`python -X dev`, or PYTHONMALLOC=debug and its like (PEP 445): what is freed is overwritten."""
_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of malloc.h."""

    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def in_use() -> int:
    """Bytes of the main arena's blocks that are not free."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    return int(mallinfo().uordblks)
