"""The C functions that a Python line will call, by its syntax and by live objects.

This file's text runs in the debugged program, by debugpy, in the frame that stands at the line: it imports
the standard library only. Names are looked up as they are; no property, `__getattr__` or other code of a user
runs. Offsets of C structs are those of CPython's headers (methodobject.h, descrobject.h, cpython/object.h).
"""

# SPDX-License-Identifier: MIT
import ast
import ctypes
import functools
import inspect
import json
import linecache
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MISSING = object()
_DEPTH_MAX = 4
_HEAD = object.__basicsize__
_INIT, _NEW, _VECTORCALL_OFFSET, _CALL = 272, 288, 32, 104
"""Offsets in a type after its PyVarObject head: tp_init, tp_new, tp_vectorcall_offset, tp_call."""
_OPERATORS = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.Pow: "__pow__", ast.MatMult: "__matmul__",
    ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__", ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
}  # fmt: skip
_LOOPS, _LOOPS_MAX = 32, 64
"""Of PyUFuncObject (numpy/ufuncobject.h): functions, and behind data their number."""
_PYBIND11_IMPL, _NANOBIND_IMPL = 48, 32
"""Of function_record and of func_data (tracing/arm/bound_functions.py): the function that a template made."""
Entry = tuple[str, int, int]
"""Name, address, flags of the method table (0: none)."""


def line_calls(file: str, line: int, scopes: tuple[dict[str, Any], ...]) -> str:
    """The thread and the entries, as JSON."""
    found: dict[int, Entry] = {}
    if not getattr(sys, "_is_gil_enabled", bool)() and hasattr(sys, "_is_gil_enabled"):
        return json.dumps({"thread": threading.get_native_id(), "entries": []})
    for value in _called(_statement(file, line), scopes):
        for entry in entries(value):
            found.setdefault(entry[1], entry)
    rows = [{"name": name, "address": address, "flags": flags} for name, address, flags in found.values()]
    return json.dumps({"thread": threading.get_native_id(), "entries": rows})


def _statement(file: str, line: int) -> list[ast.AST]:
    """The innermost statement at a line; of one with a body only its head."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return []
    found: ast.stmt | None = None
    for node in ast.walk(tree):
        at_line = isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        if at_line and (found is None or node.lineno >= found.lineno):  # type: ignore[attr-defined]
            found = node  # type: ignore[assignment]
    if found is None:
        return []
    if not hasattr(found, "body"):
        return [found]
    heads = [getattr(found, name, None) for name in ("test", "iter", "items", "subject", "decorator_list")]
    return [node for head in heads if head for node in (head if isinstance(head, list) else [head])]


def _called(roots: list[ast.AST], scopes: tuple[dict[str, Any], ...]) -> Iterator[Any]:
    for node in (one for root in roots for one in ast.walk(root)):
        if isinstance(node, ast.Call):
            yield _value(node.func, scopes)
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                yield _of_type(_value(side, scopes), _OPERATORS[type(node.op)])
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield _of_type(_value(node.value, scopes), "__getitem__")


def _value(node: ast.AST, scopes: tuple[dict[str, Any], ...]) -> Any:
    """What a name, an attribute or a constant is now; _MISSING for what must be computed."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return next((scope[node.id] for scope in scopes if node.id in scope), _MISSING)
    if isinstance(node, ast.Attribute):
        base = _value(node.value, scopes)
        return _MISSING if base is _MISSING else _attribute(base, node.attr)
    if isinstance(node, ast.Call):
        made = _value(node.func, scopes)
        return _Instance(made) if isinstance(made, type) else _MISSING
    return _MISSING


class _Instance:
    """An instance that the line itself will make."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


class _Symbol:
    """A function of a library that ctypes or cffi has not looked up yet."""

    def __init__(self, name: str, address: int) -> None:
        self.name, self.address = name, address


def _attribute(base: Any, name: str) -> Any:
    if isinstance(base, types.ModuleType):
        return base.__dict__.get(name, _MISSING)
    if not name.startswith("_") and (handle := _handle(base)) and name not in base.__dict__:
        return _Symbol(name, ctypes.cast(_dlsym(handle, name.encode()), ctypes.c_void_p).value or 0)
    found = inspect.getattr_static(base.kind if isinstance(base, _Instance) else base, name, _MISSING)
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


def _handle(base: Any) -> int:
    """dlopen's handle of a library of ctypes or of cffi's `ffi.dlopen`; 0 for other objects."""
    kind = type(base)
    if any(kind is one for one in (ctypes.CDLL, ctypes.PyDLL)):
        return int(base._handle)
    if type(kind) is not type or kind.__module__ != "cffi.api" or not kind.__name__.startswith("FFILibrary"):
        return 0
    found = _enclosed(kind.__dict__["__getattr__"], "CLibrary")
    return _word(id(found) + _HEAD) if found is not _MISSING else 0


def _enclosed(function: Any, kind: str, depth: int = 0) -> Any:
    """An object of a type of this name among the variables that functions share (`__closure__`)."""
    for cell in (function.__closure__ or ()) if depth <= _DEPTH_MAX else ():
        try:
            inside = cell.cell_contents
        except ValueError:  # not set yet
            continue
        if type(inside).__name__ == kind:
            return inside
        if type(inside) is types.FunctionType:
            found = _enclosed(inside, kind, depth + 1)
            if found is not _MISSING:
                return found
    return _MISSING


def _of_type(value: Any, name: str) -> Any:
    if value is _MISSING:
        return _MISSING
    return inspect.getattr_static(value.kind if isinstance(value, _Instance) else type(value), name, _MISSING)


def entries(value: Any, depth: int = 0) -> Iterator[Entry]:
    """The C functions that run when a value is called."""
    at, kind = id(value), type(value)
    if value is _MISSING or depth > _DEPTH_MAX:
        return
    if kind is types.BuiltinFunctionType and (record := _of_pybind11(value.__self__)):
        yield _bound(value.__name__, record + _PYBIND11_IMPL, record + _PYBIND11_IMPL + 8)
    elif _is_of_nanobind(kind):
        record = at + kind.__basicsize__
        yield _bound(kind.__name__, record + _NANOBIND_IMPL, record)
    elif kind is _Symbol:
        yield value.name, value.address, 0
    elif kind is types.BuiltinFunctionType or kind.__name__ == "cython_function_or_method":
        yield _method(_word(at + _HEAD))
    elif kind in (types.MethodDescriptorType, types.ClassMethodDescriptorType):
        yield _method(_word(at + _HEAD + 24))
    elif kind is types.WrapperDescriptorType:
        yield value.__name__, _word(at + _HEAD + 32), 0
    elif kind is types.MethodWrapperType:
        yield from entries(_of_type(value.__self__, value.__name__), depth + 1)
    elif kind is types.MethodType or kind.__name__ == "instancemethod":
        yield from entries(value.__func__, depth + 1)
    elif kind is functools.partial:
        yield from entries(value.func, depth + 1)
    elif kind is types.FunctionType:
        yield from entries(value.__dict__.get("__wrapped__", _MISSING), depth + 1)
    elif isinstance(value, type):
        yield from _made(value)
    else:
        yield from _of_instance(value, depth)


def _of_instance(value: Any, depth: int) -> Iterator[Entry]:
    kind, at = type(value), id(value)
    if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        yield kind.__name__, ctypes.cast(value, ctypes.c_void_p).value or 0, 0
    elif kind.__module__ == "_cffi_backend":
        yield "cffi", _word(at + _HEAD + 8), 0
    elif kind.__name__ == "_ArrayFunctionDispatcher":
        yield from entries(value._implementation, depth + 1)
    elif not kind.__flags__ & 1 << 9:
        if loops := _own_loops(value):
            yield from ((value.__name__, loop, 0) for loop in loops)
        elif kind.__flags__ & 1 << 11 and (vector := _word(at + _word(_tail(kind) + _VECTORCALL_OFFSET))):
            yield kind.__name__, vector, 0
        elif call := _word(_tail(kind) + _CALL):
            yield kind.__name__, call, 0


def _own_loops(value: Any) -> list[int]:
    """The loops of a ufunc that another library than NumPy made; [] for other objects."""
    kind, at = type(value), id(value)
    if type(kind) is not type or (kind.__module__, kind.__name__) != ("numpy", "ufunc"):
        return []
    rows, count = _word(at + _LOOPS), ctypes.c_int.from_address(at + _LOOPS + 16).value
    loops = [_word(rows + 8 * i) for i in range(count if rows and count <= _LOOPS_MAX else 0)]
    files = {_code_file(loop) for loop in loops}
    own = _code_file(_word(at + _word(_tail(kind) + _VECTORCALL_OFFSET)))
    return [] if "" in files or own in files else list(dict.fromkeys(loops))


def _made(kind: type) -> Iterator[Entry]:
    """tp_new and tp_init of the classes that define them in C; of a binding's class its constructors."""
    bound = next((base.__dict__["__init__"] for base in kind.__mro__ if "__init__" in base.__dict__), None)
    if _is_of_nanobind(type(bound)) or type(bound).__name__ == "instancemethod":
        yield from entries(bound)
        return
    if "_ctypes" in (kind.__module__, type(kind).__module__):
        return
    for name, offset in (("__new__", _NEW), ("__init__", _INIT)):
        owner = next((base for base in kind.__mro__ if name in base.__dict__), object)
        made_in_c = isinstance(owner.__dict__[name], (types.BuiltinFunctionType, types.WrapperDescriptorType))
        if owner is not object and made_in_c:
            yield f"{owner.__name__}.{name}", _word(_tail(owner) + offset), 0


def _is_of_nanobind(kind: type) -> bool:
    return kind.__module__ == "nanobind" and kind.__name__ in ("nb_func", "nb_method")


def _bound(name: str, impl: int, captured: int) -> Entry:
    """A binding's function: the author's where its address was captured, else what the template made."""
    own = _word(captured)
    return name, own if _code_file(own) else _word(impl), 0


def _code_file(address: int) -> str:
    """The file of the code at an address; "" where no file's code lies."""
    with Path("/proc/self/maps").open() as file:
        for row in file:
            span, rights, *_, path = row.rstrip("\n").split(None, 5)
            first, _, end = span.partition("-")
            if int(first, 16) <= address < int(end, 16):
                return path if "x" in rights and path.startswith("/") else ""
    return ""


def _dlsym(handle: int, name: bytes) -> Any:
    find = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("dlsym", ctypes.CDLL(None)))
    return find(handle, name)


def _of_pybind11(given: Any) -> int:
    """The function_record behind a function of pybind11's; 0 for other functions."""
    name = type(given).__name__
    if name == "PyCapsule":
        told = _word(id(given) + _HEAD + 8)
        name = ctypes.string_at(told, 24).decode("latin-1") if told else ""
    is_one = name.startswith(("pybind11_function_record", "pybind11_detail_function_rec"))
    return _word(id(given) + _HEAD) if is_one else 0


def _tail(kind: type) -> int:
    return id(kind) + _HEAD + 8


def _method(row: int) -> Entry:
    name = ctypes.string_at(_word(row)).decode("utf-8", "replace")
    return name, _word(row + 8), ctypes.c_int.from_address(row + 16).value


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value
