"""Statements that copy between an object and a file or a socket: `os.write(fd, x)`, `np.save(path, x)`,
`group["x"] = x` of HDF5. What a format encodes or packs, as Parquet does, is not among them.
"""

# SPDX-License-Identifier: MIT
import ast
import io
import os
import socket
from types import FrameType, ModuleType
from typing import Any, Final, Literal, NamedTuple

from inspector import _native
from inspector.facts.statements import Written
from inspector.objects.classes import type_module
from inspector.sessions.statements import values
from inspector.sessions.statements.elements import bytes_of, elements_of
from inspector.sessions.statements.lost import leaves
from inspector.sessions.statements.syntax import tree

_READ: Final = frozenset(("read", "pread", "recv", "read1"))
_INTO: Final = frozenset(("readinto", "readinto1", "recv_into", "read_direct"))
_WRITE: Final = frozenset(("write", "pwrite", "send", "sendall"))
_SAVE: Final = {("numpy", "save"): (0, 1), ("pickle", "dump"): (1, 0)}
"""Functions of modules that write all bytes of an array: which argument is the file, and which the array."""
_STORES: Final = {"h5py": "file", "zarr": "store"}
"""Library -> what its objects keep their items in; a store of zarr may be memory."""
_FILES: Final = (io.FileIO, io.BufferedReader, io.BufferedWriter, io.BufferedRandom)


class Call(NamedTuple):
    """One such call."""

    way: Literal["read", "into", "write", "store"]
    file: str
    """ "the file fd", "the socket left": by the name that is written."""
    name: str
    """The name of the object that is written from or into; "" of one that is read, and of an expression."""


def called(written: Written, frame: FrameType) -> Call | None:
    """The call that a statement's right side is; None if it is none of these."""
    if stored := _stored(written, frame) or _fetched(written, frame):
        return stored
    if "(" not in written.text:
        return None
    node: Any = getattr(tree(written.text), "value", None)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        node = _without_arguments(node)
    found = values.read(frame, ast.unparse(node.func.value)) if node is not None else ()
    return _of(node, found[0]) if found else None


def _stored(written: Written, frame: FrameType) -> Call | None:
    """An assignment to an item of an object that keeps its items elsewhere."""
    if written.kind != "assign" or "] = " not in written.text:
        return None
    node: Any = tree(written.text)
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if not isinstance(target, ast.Subscript):
        return None
    while isinstance(target, ast.Subscript):
        target = target.value
    found = values.read(frame, ast.unparse(target)) if isinstance(target, (ast.Name, ast.Attribute)) else ()
    place = _place(found, target)
    return Call("store", place, ast.unparse(node.value)) if place else None


def _fetched(written: Written, frame: FrameType) -> Call | None:
    """Items of an object that keeps them elsewhere: `x = group["x"][:]`."""
    node: Any = getattr(tree(written.text), "value", None) if "[" in written.text else None
    if not isinstance(node, ast.Subscript):
        return None
    root = node.value
    while isinstance(root, (ast.Subscript, ast.Attribute)):
        root = root.value
    found = values.read(frame, root.id) if isinstance(root, ast.Name) else ()
    place = _place(found, root)
    return Call("read", place, "") if place else None


def _place(found: values.Found, written: ast.expr) -> str:
    """What an object keeps its items in; "" for one that is of none of these libraries."""
    kind = _STORES.get(type_module(type(found[0])).partition(".")[0]) if found else None
    return f"the {kind} of {ast.unparse(written)}" if kind else ""


def _without_arguments(node: Any) -> Any:
    """A call like `f.read()`, which needs none."""
    is_read = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READ
    return node if is_read else None


def _of(node: Any, owner: Any) -> Call | None:
    """Of a method of Python's own types, or of a function of `os`, whose first argument is the file."""
    name, given, home = node.func.attr, node.args, type_module(type(owner)).partition(".")[0]
    if saved := _saved(node, owner, given):
        return saved
    if home == "h5py" and name == "read_direct":
        file = f"the file of {ast.unparse(node.func.value)}"
    elif owner is os:
        file, given = f"the file {ast.unparse(given[0])}" if given else "", given[1:]
    elif type(owner) is socket.socket or _native.exactly(owner, *_FILES):
        kind = "socket" if type(owner) is socket.socket else "file"
        file = f"the {kind} {ast.unparse(node.func.value)}"
    else:
        return None
    if name in _READ:
        return Call("read", file, "")
    if name not in _INTO | _WRITE or not given:
        return None
    return Call("into" if name in _INTO else "write", file, ast.unparse(given[0]))


def _saved(node: Any, owner: Any, given: list[Any]) -> Call | None:
    """`np.save(path, x)`, `pickle.dump(x, f)`, `x.tofile(path)`, `group.create_dataset("x", data=x)`."""
    name, home = node.func.attr, type_module(type(owner)).partition(".")[0]
    places = _SAVE.get((owner.__name__, name)) if type(owner) is ModuleType else None
    if places is not None and len(given) > 1:
        return Call("write", f"the file {ast.unparse(given[places[0]])}", ast.unparse(given[places[1]]))
    is_text = any(one.arg == "sep" for one in node.keywords) or len(given) > 1
    if home == "numpy" and name == "tofile" and given and not is_text:
        return Call("write", f"the file {ast.unparse(given[0])}", ast.unparse(node.func.value))
    data = next((one.value for one in node.keywords if one.arg == "data"), None)
    if home == "h5py" and name == "create_dataset" and data is not None:
        return Call("store", f"the file of {ast.unparse(node.func.value)}", ast.unparse(data))
    return None


def moved(call: Call, frame: FrameType, result: Any) -> int:
    """How many bytes a call that ended wrote: what it says, else all of the object; 0 if nothing says so."""
    if type(result) is int:
        return result
    if found := values.read(frame, call.name):
        return bytes_of(elements_of(found[0]))
    shown = leaves.shown(call.name, frame)
    return 0 if shown is None else int(shown.nbytes)
