"""Find the Python of a process by its ELF section or symbol, and verify it.

`_PyRuntime` has its own section (`.PyRuntime`, Python/pylifecycle.c), which stripping keeps. So a shared
libpython, one opened by dlopen, a static python and a host that links Python are found in the same way. A
version is accepted when its layout finds sys.modules, with `sys` in it.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from inspector.binaries.symbol_table import Elf, elf
from inspector.debugger.attach.object_layout import LAYOUTS, ObjectLayout
from inspector.debugger.attach.objects import Objects
from inspector.debugger.memory import proc
from inspector.debugger.memory.debug_offsets import debug_offsets
from inspector.debugger.memory.python_layout import Layout, layout
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown

_RUNTIME: Final = "_PyRuntime"
_VERSION: Final = "Py_Version"


class Runtime(NamedTuple):
    """The Python of one process."""

    address: int
    """The address of _PyRuntime."""
    file: str
    frames: Layout
    where: ObjectLayout
    interpreter: int
    modules: int
    """The dict sys.modules of the first interpreter."""

    @property
    def version(self) -> str:
        """ "3.12"."""
        return f"3.{self.where.minor}"


def runtime(memory: RemoteMemory) -> Runtime:
    """The Python of a process. Raises InspectorError: not-python, no-layout."""
    seen = Unknown("no mapped file has a section .PyRuntime or a symbol _PyRuntime")
    for path, bias, found in _candidates(memory.pid):
        address = bias + (found.symbols.get(_RUNTIME) or found.sections[".PyRuntime"])
        version = _version(memory, bias + found.symbols[_VERSION]) if _VERSION in found.symbols else 0
        for name in [version] if version else [major << 24 | minor << 16 for major, minor in LAYOUTS]:
            made = _made(memory, address, path, name)
            if isinstance(made, Runtime):
                return made
            seen = made
    raise InspectorError(
        f"{memory.pid} ({proc.program(memory.pid)}) is not a Python that can be read.",
        slug="not-python",
        why=seen.reason,
        do="`inspector break --pid` reads native frames of any program",
    )


def _version(memory: RemoteMemory, address: int) -> int:
    try:
        return memory.word(address) & 0xFFFFFFFF
    except Unreadable:
        return 0


def _candidates(pid: int) -> Iterator[tuple[str, int, Elf]]:
    """(path, load bias, ELF facts) of mapped files that may be a Python, likely ones first."""
    first = {row.path: row for row in reversed(proc.code(pid))}
    for path in sorted(first, key=lambda path: "python" not in PurePath(path).name):
        found = elf(proc.mapped_file(pid, path), (_RUNTIME, _VERSION), (".PyRuntime",))
        if isinstance(found, Unknown) or not (_RUNTIME in found.symbols or found.sections):
            continue
        yield path, first[path].start - found.address(first[path].file_offset), found


def _made(memory: RemoteMemory, address: int, path: str, version: int) -> Runtime | Unknown:
    frames = layout(memory, address, version)
    if isinstance(frames, Unknown):
        return Unknown(frames.reason.replace("native frames only", "its objects are not read"))
    if frames.version not in LAYOUTS:
        return Unknown(
            f"no layout is known for the objects of Python {frames.version[0]}.{frames.version[1]}"
        )
    try:
        where = _self_described(memory, address, LAYOUTS[frames.version])
        interpreter = memory.word(address + frames.interpreters)
        modules = memory.word(interpreter + where.modules)
        if any(name == "sys" for name, _ in Objects(memory, frames, where).text_items(modules)):
            return Runtime(address, path, frames, where, interpreter, modules)
    except Unreadable as error:
        return Unknown(f"its interpreter cannot be read at {error}; it may not have started")
    return Unknown("no sys.modules where its version has it")


def _self_described(memory: RemoteMemory, address: int, where: ObjectLayout) -> ObjectLayout:
    """The layout; from 3.13 on with the interpreter's offsets of _PyRuntime itself (_Py_DebugOffsets)."""
    words = debug_offsets(memory, address, (3, where.minor))
    if not words:
        return where
    return where._replace(
        collector=words["interpreter_state.gc"],
        modules=words["interpreter_state.imports_modules"],
        lock=words["interpreter_state.ceval_gil"],
        frame_variables=words["interpreter_frame.localsplus"],
    )
