"""A C cell: how it was built, what it defines, and what one call of it did to the references around it."""

from __future__ import annotations

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
    """As the debug information has it, typedefs resolved: "PyObject *scale(PyArrayObject *x, double by)"."""
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
    """A struct of the cell that begins with an object's head: what an instance is in memory."""

    name: str
    bytes: int
    fields: tuple[CompiledField, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A C cell that was compiled, or found in the cache: key, command, functions, structs."""

    name: str
    key: str
    """Hash of the text, the arguments, the compiler, Python and NumPy: what is found under it is the same."""
    cached: bool
    """Whether it was found, and no compiler ran."""
    kept: bool
    """Whether it may be found later; `cache_version=()` is never kept."""
    cache_version: str
    """"" where none was given."""
    folder: str
    library_bytes: int
    command: str
    """What made the library; `$PYTHON` and `$NUMPY` stand for the folders of their headers."""
    compile_ns: int
    """0 where it was found."""
    warnings: tuple[str, ...]
    functions: tuple[CompiledFunction, ...]
    """Empty for a cell that makes its own module: %inspect shows that one's table."""
    module: str = ""
    """The module that the cell's own PyInit_ makes; "" where the method table is ours."""
    structs: tuple[CompiledStruct, ...] = ()
    """Of a cell that makes its own module, from the debug information."""


Verdict = Literal["balanced", "over-released", "more than found"]


@dataclass(frozen=True, slots=True)
class Balanced:
    """One object around a call: its count before and after, and the references found in the result."""

    name: str
    """"x", "x.dtype", "x.base"."""
    shown: str
    references_before: int | Unknown
    references_after: int | Unknown
    held: int
    """References to it in the result: itself, an item, a base, a dtype."""
    verdict: Verdict | Unknown
    """"over-released": fewer than the result accounts for; "more than found": kept by C, or leaked."""


@dataclass(frozen=True, slots=True)
class CellArray:
    """How an argument or a result lies in memory."""

    name: str
    layout: Layout


NOT_DEAD: Final = Unknown("it did not die")
NOT_ASKED: Final = Unknown("not asked for: --trace")


@dataclass(frozen=True, slots=True)
class CellCall:
    """One call of a function of a C cell: result, time, the balance of references."""

    function: str
    ns: int
    """Of the call alone; of the child's life where it ran apart."""
    isolated: bool
    error: str
    """The exception's type and words; "" without one."""
    result: str | Unknown
    balance: tuple[Balanced, ...]
    """Empty where it ran in a child: the counts there are not ours."""
    died: Stop | Unknown = NOT_DEAD
    """Where C died in a child: of a second child, under gdb, that died as the first had."""
    trace: Trace | Unknown = NOT_ASKED
    """What the function asked of Python, in a child of its own."""
    leaks: Leaks | Unknown = NOT_ASKED
    """The ledger of its references, in a child of its own."""
    arrays: tuple[CellArray, ...] = ()
    """Of the arguments and results, where a trace was asked for."""
