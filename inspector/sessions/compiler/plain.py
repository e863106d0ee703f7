"""Functions of plain C, called through cffi: numbers by value, buffers by address, the GIL released."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from inspector.sessions.compiler.prototypes import Parameter, Prototype

_FORMATS: Final = {
    "char": "cbB", "signed char": "bc", "unsigned char": "Bc", "short int": "h", "short unsigned int": "H",
    "int": "i", "unsigned int": "I", "long int": "lq", "long unsigned int": "LQ", "long long int": "ql",
    "long long unsigned int": "QL", "float": "f", "double": "d", "_Bool": "?",
}  # fmt: skip
"""C type -> its buffer formats (struct module) on x86-64."""


def plain(library: Path, functions: tuple[Prototype, ...]) -> dict[str, Callable[..., Any]]:
    """Name -> callable, for the functions without Python objects."""
    from cffi import FFI

    ffi = FFI()
    callables = {}
    opened = ffi.dlopen(str(library))
    for function in functions:
        if not function.speaks_python and not _has_structs(function):
            ffi.cdef(f"{function};")
            callables[function.name] = _caller(ffi, getattr(opened, function.name), function)
    return callables


def _has_structs(function: Prototype) -> bool:
    return any(
        kind.startswith("DW_TAG") for kind in (function.result, *(one.type for one in function.parameters))
    )


def _caller(ffi: Any, address: Any, function: Prototype) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        if len(values) != len(function.parameters):
            raise TypeError(f"{function.name} takes {len(function.parameters)} arguments, got {len(values)}")
        pairs = zip(function.parameters, values, strict=True)
        return address(*[_argument(ffi, function, one, value) for one, value in pairs])

    call.__name__ = call.__qualname__ = function.name
    call.__doc__ = str(function)
    return call


def _argument(ffi: Any, function: Prototype, parameter: Parameter, value: Any) -> Any:
    """`value` for cffi: a buffer for a pointer is passed by address, not copied, if its elements fit."""
    element = parameter.type.removesuffix(" *")
    if element not in _FORMATS or element == parameter.type or isinstance(value, ffi.CData):
        return value.encode() if isinstance(value, str) else value
    view = memoryview(value)
    if view.format.lstrip("@=<") not in tuple(_FORMATS[element]) or not view.c_contiguous:
        layout = "contiguous " if view.c_contiguous else "not contiguous "
        raise TypeError(
            f"{function.name}: {parameter.name} needs contiguous elements of C {element}, "
            f"it has {layout}elements of format {view.format!r}"
        )
    return ffi.from_buffer(f"{element}[]", value)
