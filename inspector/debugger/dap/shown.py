"""Stacks and variables of natively stopped threads, in the protocol's form.

Frames and variables have numbers that the editor asks by, until their thread goes on.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from inspector.debugger.dap.cython_names import WRAPPER, authors
from inspector.debugger.dap.native_side import NativeSide
from inspector.debugger.dap.places import FIRST
from inspector.debugger.dap.python_objects import PythonObjects, Seen, opened
from inspector.debugger.memory.merge import OF_CPP
from inspector.errors import InspectorError
from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire

Row = dict[str, Any]
_INTERPRETER, _CPP = "[interpreter]", "[C++ library]"
_NO_LINES: Final = "deemphasize"
_RUNS: Final = (("/debugpy/", ""), ("/IPython/core/interactiveshell.py", "run_code"))
"""Part of a file's path and end of a function's name: it runs the program or the cell, and ends the stack."""


class At(NamedTuple):
    """A frame of a stopped thread: native by its level, of Python by its number; -1 where it is not that."""

    thread: int
    level: int
    python: int


class Shown:
    """What the editor was shown of the threads that stand in gdb."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native
        self._frames: dict[int, At] = {}
        self._inside: dict[int, tuple[int, Callable[[], list[Row]]]] = {}
        self._places: dict[int, tuple[int, int, int]] = {}
        """What can be set: thread, level of the frame, gdb's number of an opened value."""
        self._ranges: dict[int, Callable[[str], Row]] = {}
        self._last = FIRST
        self._objects: PythonObjects | str = ""

    def has(self, number: int) -> bool:
        """Whether a number of a frame or of variables is ours."""
        return number >= FIRST

    def forget(self, thread: int) -> None:
        """A thread goes on."""
        self._frames = {number: at for number, at in self._frames.items() if at.thread != thread}
        self._inside = {number: row for number, row in self._inside.items() if row[0] != thread}
        self._places = {number: at for number, at in self._places.items() if at[0] != thread}
        self._ranges = {number: do for number, do in self._ranges.items() if number in self._inside}

    def close(self) -> None:
        """Close the process's memory."""
        if isinstance(self._objects, PythonObjects):
            self._objects.close()
        self._objects = ""

    def stack(self, thread: int) -> list[Row]:
        """The merged frames; what lies between a call and the called function is one dim row."""
        found: list[Row] = []
        python, last = -1, ""
        for row in self._native.call("stack", thread=thread)["rows"]:
            frame = from_wire(Frame, row["frame"])
            if frame.kind == "python" and _runs(frame):
                while found and self._frames[found[-1]["id"]].python < 0:
                    found.pop()
                break
            python += frame.kind == "python"
            name, last = last, authors(frame.function)
            if frame.function.startswith(WRAPPER) and name == last:
                continue
            if frame.plumbing:
                if found and found[-1].get("presentationHint") != "subtle":
                    found.append(self._frame(frame, At(thread, -1, -1), {}))
                elif found and not frame.function.startswith(OF_CPP):
                    found[-1]["name"] = _INTERPRETER
                continue
            at = At(thread, row.get("level", -1), python if frame.kind == "python" else -1)
            found.append(self._frame(frame, at, row))
        while found and found[-1].get("presentationHint") == "subtle":
            found.pop()
        return found

    def _frame(self, frame: Frame, at: At, row: Row) -> Row:
        self._last += 1
        self._frames[self._last] = at
        if frame.plumbing:
            hint = {"presentationHint": "subtle"}
            name = _CPP if frame.function.startswith(OF_CPP) else _INTERPRETER
            return {"id": self._last, "name": name, "line": 0, "column": 0, **hint}
        library = "" if isinstance(frame.library, Unknown) else frame.library
        function = frame.function if at.python >= 0 else authors(frame.function)
        name = function if at.python >= 0 or not library else f"{function} [{library}]"
        said: Row = {"id": self._last, "name": name, "line": 0, "column": 0}
        if "pc" in row:
            said["instructionPointerReference"] = f"{row['pc']:#x}"
        if isinstance(frame.line, Unknown):
            return {**said, "presentationHint": "subtle"} if at.level < 0 and at.python < 0 else said
        path, _, line = frame.line.rpartition(":")
        source: Row = {"name": Path(path).name}
        source |= {"path": path} if Path(path).is_absolute() else {"presentationHint": _NO_LINES}
        return {**said, "line": int(line), "column": 1, "source": source}

    def scopes(self, frame: int) -> list[Row]:
        """The one scope of a frame."""
        at = self._frames[frame]
        ref = self._opens(at.thread, lambda: self._variables(at), lambda name: self._range(at, name))
        if at.level >= 0:
            self._places[ref] = (at.thread, at.level, 0)
        return [
            {"name": "Locals", "presentationHint": "locals", "variablesReference": ref, "expensive": False}
        ]

    def variables(self, ref: int) -> list[Row]:
        """The rows of a scope or of an opened variable."""
        return self._inside[ref][1]()

    def evaluated(self, frame: int, expression: str) -> Row:
        """C by gdb; in a Python frame a path, which is read from memory."""
        at = self._frames[frame]
        if at.python >= 0:
            return self._seen(at.thread, self._read().evaluated(at.thread, at.python, expression))
        if at.level < 0:
            raise InspectorError("this row has no variables.", slug="not-a-path", do="select another frame")
        told = self._native.call("evaluate", thread=at.thread, level=at.level, expression=expression)
        return self._row(at.thread, told["row"])

    def _variables(self, at: At) -> list[Row]:
        if at.python >= 0:
            return [self._seen(at.thread, one) for one in self._read().variables(at.thread, at.python)]
        if at.level < 0:
            return []
        told = self._native.call("variables", thread=at.thread, level=at.level)
        return [self._row(at.thread, one) for one in told["rows"]]

    def _row(self, thread: int, row: Row) -> Row:
        said = {"name": row["name"], "type": row["type"], "value": row["value"], "variablesReference": 0}
        if "object" in row and not isinstance(self._objects_of(), str):
            seen = self._read().row(row["name"], row["object"])
            return {
                **self._seen(thread, seen),
                "value": f"{seen.type_name} {seen.value}".strip(),
                "type": row["type"],
            }
        if "ref" in row:
            inside = partial(self._native.call, "range", thread=thread, level=0, ref=row["ref"])
            said["variablesReference"] = self._opens(
                thread, lambda: self._children(thread, row["ref"]), lambda name: inside(name=name)
            )
            self._places[said["variablesReference"]] = (thread, 0, row["ref"])
        return said

    def _children(self, thread: int, ref: int) -> list[Row]:
        rows = self._native.call("children", thread=thread, ref=ref)["rows"]
        return [self._row(thread, one) for one in rows]

    def _seen(self, thread: int, seen: Seen) -> Row:
        address = seen.address
        ref = 0
        if address:
            ref = self._opens(
                thread,
                lambda: self._inside_of(thread, address),
                lambda name: self._read().bytes_inside(address, name),
            )
        return {
            "name": seen.name,
            "type": seen.type_name,
            "value": seen.value or seen.type_name,
            "variablesReference": ref,
        }

    def _inside_of(self, thread: int, address: int) -> list[Row]:
        return [self._seen(thread, one) for one in self._read().children(address)]

    def assigned(self, ref: int, name: str, value: str) -> Row:
        """Set a C scalar inside a scope or an opened variable. Raises InspectorError."""
        thread, level, opened_ref = self._places[ref]
        told = self._native.call("assign", thread=thread, level=level, ref=opened_ref, name=name, value=value)
        return self._row(thread, told["row"])

    def assigned_in(self, frame: int, expression: str, value: str) -> Row:
        """Set what an expression of C names in a frame. Raises InspectorError."""
        at = self._frames[frame]
        if at.level < 0:
            raise InspectorError(
                "Python's variables are set while the program stands in Python.", slug="not-a-path"
            )
        told = self._native.call(
            "assign", thread=at.thread, level=at.level, ref=0, name=expression, value=value
        )
        return self._row(at.thread, told["row"])

    def names(self, frame: int) -> list[str]:
        """The names of a frame's variables."""
        return [row["name"] for row in self._variables(self._frames[frame])]

    def range_of(self, frame: int, ref: int, name: str) -> Row:
        """address, bytes and letter of a variable inside an opened row, or of an expression in a frame.

        Raises InspectorError with the reason where there are none.
        """
        if ref:
            return self._ranges[ref](name)
        return self._range(self._frames[frame], name)

    def _range(self, at: At, name: str) -> Row:
        if at.python >= 0:
            return self._read().bytes_of(at.thread, at.python, name)
        return self._native.call("range", thread=at.thread, level=max(at.level, 0), ref=0, name=name)

    def _opens(self, thread: int, rows: Callable[[], list[Row]], ranges: Callable[[str], Row]) -> int:
        self._last += 1
        self._ranges[self._last] = ranges
        self._inside[self._last] = (thread, rows)
        return self._last

    def threads(self) -> dict[int, str]:
        """Names of Python's threads by the kernel's id; {} where they cannot be read."""
        found = self._objects_of()
        return {} if isinstance(found, str) else found.threads()

    def _objects_of(self) -> PythonObjects | str:
        if isinstance(self._objects, str):
            self._objects = opened(self._native.pid)
        return self._objects

    def _read(self) -> PythonObjects:
        found = self._objects_of()
        if isinstance(found, str):
            raise InspectorError("Python's objects are not read.", slug="not-python", why=found)
        return found


def _runs(frame: Frame) -> bool:
    parts = str(frame.library), frame.function
    return any(file in parts[0] and parts[1].endswith(name) for file, name in _RUNS)
