"""`_Py_DebugOffsets`: CPython from 3.13 on says at the start of `_PyRuntime` where its fields are.

The struct grows with each version (internal/pycore_debug_offsets.h; in 3.13 internal/pycore_runtime.h) and
does not name its words. So a version needs its list of names here; of one without a list nothing is read.
tests/debugger/test_object_layout.py compares the lists with what the running Python has.
"""

# SPDX-License-Identifier: MIT
import struct
from typing import Final

from inspector.debugger.memory.remote_memory import RemoteMemory

_COOKIE: Final = b"xdebugpy"
_3_13: Final = """
runtime_state size finalizing interpreters_head
interpreter_state size id next threads_head gc imports_modules sysdict builtins ceval_gil gil_runtime_state
 gil_runtime_state_enabled gil_runtime_state_locked gil_runtime_state_holder
thread_state size prev next interp current_frame thread_id native_thread_id datastack_chunk status
interpreter_frame size previous executable instr_ptr localsplus owner
code_object size filename name qualname linetable firstlineno argcount localsplusnames localspluskinds
 co_code_adaptive
"""
_3_14: Final = (
    _3_13.replace("threads_head gc", "threads_head threads_main gc")
    .replace("holder\n", "holder code_object_generation tlbc_generation\n")
    .replace(" owner\n", " owner stackpointer tlbc_index\n")
    .replace("co_code_adaptive\n", "co_code_adaptive co_tlbc\n")
)
_3_15: Final = _3_14.replace(
    "current_frame thread_id",
    "current_frame base_frame last_profiled_frame last_profiled_frame_seq thread_id",
).replace("status\n", "status holds_gil gil_requested current_exception exc_state\nerr_stackitem exc_value\n")
_NAMES: Final = {(3, 13): _3_13, (3, 14): _3_14, (3, 15): _3_15}


def names(version: tuple[int, int]) -> list[str]:
    """The words of the struct behind its cookie, up to those of code objects; [] where they are not known."""
    found = ["version", "free_threaded"]
    for line in _NAMES.get(version, "").replace("\n ", " ").splitlines():
        section, *fields = line.split() or [""]
        found += [f"{section}.{field}" for field in fields]
    return found if version in _NAMES else []


def debug_offsets(memory: RemoteMemory, runtime: int, version: tuple[int, int]) -> dict[str, int]:
    """The offsets of the Python whose `_PyRuntime` is at `runtime`; empty where they are not known.

    Raises Unreadable.
    """
    wanted = names(version)
    head = memory.read(runtime, 8 + 8 * len(wanted)) if wanted else b""
    if not head.startswith(_COOKIE):
        return {}
    return dict(zip(wanted, struct.unpack_from(f"<{len(wanted)}Q", head, 8), strict=True))
