"""Offsets of CPython's objects by version, to read another process; python_layout.py has those of frames.

From the headers of 3.11 to 3.15 (internal/pycore_interp.h, pycore_gc.h, pycore_dict.h, pycore_frame.h,
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
    frame_variables: int
    """In a frame: its variables (localsplus)."""
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
    generations: tuple[int, ...]
    """In the collector: the heads of its lists, young to old, and the permanent one."""
    tuple_items: int
    """In a tuple: the first item; from 3.14 on its hash is before it."""

    @property
    def for_walk(self) -> tuple[int, int, int, int, int, int, int]:
        """The argument of `_native.remote_holders`."""
        return (
            self.minor,
            self.generator_frame,
            self.frame_code,
            self.code_variables,
            self.code_stack,
            self.frame_variables,
            self.cached_keys,
        )


_LISTS: Final = (24, 48, 72, 104)
LAYOUTS: Final = {
    (3, 11): ObjectLayout(11, 888, 648, 80, 32, 72, 76, 68, 872, 0, 360, 80, _LISTS, 24),
    (3, 12): ObjectLayout(12, 944, 112, 72, 0, 72, 72, 64, 880, 0, 384, 64, _LISTS, 24),
    (3, 13): ObjectLayout(13, 7656, 7400, 72, 0, 72, 72, 64, 880, 8, 16, 656, _LISTS, 24),
    (3, 14): ObjectLayout(14, 7688, 7408, 72, 0, 80, 72, 64, 880, 8, 16, 832, (24, 48, 72, 96), 32),
    (3, 15): ObjectLayout(15, 7592, 7400, 72, 0, 80, 72, 64, 888, 8, 16, 960, (8, 32, 56, 80), 32),
}
"""From 3.13 on the process says itself where modules, collector and the GIL are (debug_offsets.py)."""
FIRST_LIST: Final = 96
"""In the collector, up to 3.13: a pointer to its first list, which 3.13.5 has 4 bytes lower than 3.13.0."""
LIST_BYTES: Final = 24
LOCK_HOLDER: Final = 8
"""In the GIL: the thread state that holds it, or held it last."""
LOCKED: Final = 16
LOCK_CONDITION: Final = 32
"""In the GIL: the condition that threads wait for which want it."""
CODE_EXCEPTIONS: Final = 40
"""In a code object: its table of handlers (co_exceptiontable)."""
CODE_NAMES: Final = 96
"""In a code object: their names (co_localsplusnames)."""
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
