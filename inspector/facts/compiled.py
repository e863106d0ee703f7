"""A C cell: how it was built, what it defines, and how one call changed the reference counts."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Final, Literal

from inspector.facts.conversion import Trace
from inspector.facts.layout import Layout
from inspector.facts.leaks import Leaks
from inspector.facts.stack import Stop
from inspector.facts.unknown import Unknown


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A function the cell defines with external linkage."""

    name: str
    prototype: str
    """From the debug information, typedefs resolved: "PyObject *scale(PyArrayObject *x, double by)"."""
    called_by: str
    """"C-API, holds the GIL", "cffi, lets the GIL go" or "not callable from Python"."""


@dataclass(frozen=True, slots=True)
class CompiledField:
    """One member of a struct (C11 6.7.2.1)."""

    name: str
    type: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CompiledStruct:
    """A struct of the cell that begins with PyObject_HEAD: the memory layout of an instance."""

    name: str
    bytes: int
    fields: tuple[CompiledField, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A C cell that was compiled, or found in the cache: key, command, functions, structs."""

    name: str
    key: str
    """Hash of the text, the arguments, the compiler, Python and NumPy: the same key means the same build."""
    cached: bool
    """Whether the build was found in the cache, so that no compiler ran."""
    kept: bool
    """Whether the build stays in the cache; `cache_version=()` is never kept."""
    cache_version: str
    """"" if none was passed."""
    folder: str
    library_bytes: int
    command: str
    """The compiler command; `$PYTHON` and `$NUMPY` stand for the folders of their headers."""
    compile_ns: int
    """0 for a build from the cache."""
    warnings: tuple[str, ...]
    functions: tuple[CompiledFunction, ...]
    """Empty if the cell makes its own module: %inspect shows the method table of that module."""
    module: str = ""
    """The module that the cell's own PyInit_ makes; "" if the tool wrote the method table."""
    structs: tuple[CompiledStruct, ...] = ()
    """For a cell that makes its own module: its structs, from the debug information."""


Verdict = Literal["balanced", "over-released", "more than found"]


@dataclass(frozen=True, slots=True)
class Balanced:
    """One object around a call: its refcount before and after, and the references found in the result."""

    name: str
    """"x", "x.dtype", "x.base"."""
    shown: str
    references_before: int | Unknown
    references_after: int | Unknown
    held: int
    """References to it in the result: the result itself, an item, a base, a dtype."""
    verdict: Verdict | Unknown
    """"over-released": fewer references than the result needs; "more than found": kept by C, or leaked."""


@dataclass(frozen=True, slots=True)
class CellArray:
    """The memory layout of an argument or a result."""

    name: str
    layout: Layout


NOT_DEAD: Final = Unknown("it did not die")
NOT_ASKED: Final = Unknown("not asked for: --trace")


@dataclass(frozen=True, slots=True)
class CellCall:
    """The column `call`: one call of a function of the cell."""

    function: str
    ns: int
    """Duration of the call alone; of the whole child process if it ran isolated."""
    isolated: bool
    error: str
    """The exception's type and message; "" without one."""
    result: str | Unknown
    balance: tuple[Balanced, ...]
    """Empty if the call ran in a child process: its refcounts are not those of this process."""
    died: Stop | Unknown = NOT_DEAD
    """Where C crashed in a child: seen under gdb in a second child that died as the first did."""
    trace: Trace | Unknown = NOT_ASKED
    """The function's C-API calls, traced in a separate child."""
    leaks: Leaks | Unknown = NOT_ASKED
    """The leak verdicts on its references, from a separate child."""
    arrays: tuple[CellArray, ...] = ()
    """The arguments and results; filled only with --trace."""
