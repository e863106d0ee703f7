"""Find the author's C function where a binding calls all functions through one of its own.

The line of the binding's function is of no use: in Cython it is the vectorcall, in pybind11 `dispatcher`, in
nanobind `nb_func_vectorcall`. The struct fields read here are the same in Cython 3.0 to 3.3, pybind11 2.13 to
3.1 and nanobind 2.2 to 3.1.
"""

# SPDX-License-Identifier: MIT
from types import BuiltinFunctionType
from typing import Any, Final

from inspector import _native
from inspector.objects.classes import full_name, type_name

_basicsize = type.__dict__["__basicsize__"].__get__
_METHOD_AT: Final = 16
"""Of PyCFunctionObject: `m_ml`. Cython's function begins like it; with the limited API it is one."""
_CALLED_AT: Final = 8
"""Of PyMethodDef: `ml_meth`."""
_TYPE_AT: Final = 8
_RECORD_AT: Final = 16
"""Of a capsule and of pybind11's own object: the `function_record`."""
_NAME_AT: Final = 24
"""Of a capsule: its name."""
_PYBIND11_IMPL_AT: Final = 48
_NANOBIND_IMPL_AT: Final = 32
"""Of `function_record` and of `func_data`: `impl`, made by a template for the author's function."""


def authored(function: Any) -> int:
    """The address of the author's function; 0 if the function's own pointer is the author's already."""
    kind = type(function)
    if kind is BuiltinFunctionType:
        return _by_pybind11(function.__self__)
    if type_name(kind) == "cython_function_or_method":
        return _by_cython(function)
    if full_name(kind) in ("nanobind.nb_func", "nanobind.nb_method"):
        return _word(id(function) + _basicsize(kind) + _NANOBIND_IMPL_AT)
    return 0


def _by_cython(function: Any) -> int:
    method = _word(id(function) + _METHOD_AT)
    if method and _word(method + _TYPE_AT) == id(BuiltinFunctionType):
        method = _word(method + _METHOD_AT)
    return _word(method + _CALLED_AT) if method else 0


def _by_pybind11(given: Any) -> int:
    name = type_name(type(given))
    if name == "PyCapsule":
        name = (_native.read(_word(id(given) + _NAME_AT), 24) or b"").decode("latin-1")
    if not name.startswith(("pybind11_function_record", "pybind11_detail_function_rec")):
        return 0
    record = _word(id(given) + _RECORD_AT)
    return _word(record + _PYBIND11_IMPL_AT) if record else 0


def _word(address: int) -> int:
    found = _native.read(address, 8)
    return int.from_bytes(found, "little") if found else 0
