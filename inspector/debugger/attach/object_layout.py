"""Offsets of CPython's objects by version, to read another process; python_layout.py has those of frames.

From the headers of 3.11, 3.12 and 3.13 (internal/pycore_interp.h, pycore_gc.h, pycore_dict.h, pycore_frame.h,
cpython/object.h, cpython/code.h), in bytes. tests/debugger/test_object_layout.py compiles them again.
"""

# SPDX-License-Identifier: MIT
from typing import Final, NamedTuple


class ObjectLayout(NamedTuple):
    """Offsets that differ between versions."""

    minor: int
    modules: int
    """In an interpreter: the dict sys.modules."""
    collector: int
    """In an interpreter: the struct of the garbage collector."""
    generator_frame: int
    """In a generator: its frame."""
    frame_code: int
    code_variables: int
    """In a code object: how many variables a frame of it has (co_nlocalsplus)."""
    code_stack: int
    cached_keys: int
    """In a heap type: the keys that its instances share (ht_cached_keys)."""
    values: int
    """In a dict's values: the first value."""
    lock: int
    """The GIL: in _PyRuntime (3.11); later, in an interpreter, a pointer at it."""
    main_thread: int
    """In _PyRuntime: pthread_self() of the thread that initialized Python."""

    @property
    def for_walk(self) -> tuple[int, int, int, int, int, int, int]:
        """The argument of `_native.remote_holders`."""
        return (
            self.minor,
            self.generator_frame,
            self.frame_code,
            self.code_variables,
            self.code_stack,
            FRAME_VARIABLES,
            self.cached_keys,
        )


LAYOUTS: Final = {
    (3, 11): ObjectLayout(11, 888, 648, 80, 32, 76, 68, 872, 0, 360, 80),
    (3, 12): ObjectLayout(12, 944, 112, 72, 0, 72, 64, 880, 0, 384, 64),
    (3, 13): ObjectLayout(13, 7656, 7400, 72, 0, 72, 64, 880, 8, 16, 656),
}
LOCK_HOLDER: Final = 8
"""In the GIL: the thread state that holds it, or held it last."""
LOCKED: Final = 16
FRAME_VARIABLES: Final = 72
"""In a frame: its variables (localsplus)."""
CODE_NAMES: Final = 96
"""In a code object: their names (co_localsplusnames)."""
GENERATIONS: Final = (24, 48, 72, 104)
"""In the collector: the heads of its lists, young to old, and the permanent one."""
TYPE_BASE_SIZE: Final = 32
TYPE_FLAGS: Final = 168
TYPE_MEMBERS: Final = 240
TYPE_DICT: Final = 264
TYPE_DICT_OFFSET: Final = 288
TYPE_MRO: Final = 344
DICT_USED: Final = 16
DICT_KEYS: Final = 32
DICT_VALUES: Final = 40
KEYS_HEAD: Final = 32
"""A dict's keys: bytes before the index table."""
MODULE_DICT: Final = 16
MANAGED_DICT: Final = 4
"""Bits of tp_flags (Include/object.h)."""
INLINE_VALUES: Final = 2
LIST: Final = 25
TUPLE: Final = 26
DICT: Final = 29
