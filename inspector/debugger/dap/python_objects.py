"""Python objects of a stopped process as an editor's variables, read from its memory; no code runs there."""

# SPDX-License-Identifier: MIT
import ast
import contextlib
import re
from itertools import islice
from typing import Any, Final, NamedTuple

from inspector.debugger.attach.frames import thread_frames
from inspector.debugger.attach.look import contents, references
from inspector.debugger.attach.ndarrays import array, array_bytes, element, shape
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.path import Root, Step, followed, parsed, resolved
from inspector.debugger.attach.runtime import Runtime, runtime
from inspector.debugger.dap.computed import Computed
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown

SHOWN: Final = 6
"""Items of a container in its own row."""
OPENED_MAX: Final = 200
_TEXT_MAX: Final = 1 << 20
_LENGTH: Final = 16
"""Offset of a str's length (PyASCIIObject)."""
_PLAIN: Final = frozenset(["int", "float", "bool", "NoneType"])
_NAMES_MAX: Final = 10_000
_SHELL: Final = re.compile(r"_|(In|Out|exit|quit|open|get_ipython)$")
"""Names of a module that are no user's: of the import system and of IPython."""
_NO_CONTENTS: Final = frozenset(["str", "bytes", "int", "float", "bool", "complex", "NoneType"])


class Seen(NamedTuple):
    """One row: a name, a text, and the address where it opens (0: it does not)."""

    name: str
    value: str
    type_name: str = ""
    address: int = 0


class PythonObjects:
    """Reads one process; owns its memory's file. Raises InspectorError where it is no Python."""

    def __init__(self, pid: int) -> None:
        self._memory = RemoteMemory(pid)
        self._found: Runtime = runtime(self._memory)
        self._objects = Objects(self._memory, self._found.frames, self._found.where)

    def close(self) -> None:
        """Close the memory's file."""
        self._memory.close()

    def threads(self) -> dict[int, str]:
        """The kernel's id and the name of the threads that `threading` knows."""
        found: dict[int, str] = {}
        with contextlib.suppress(InspectorError, Unreadable, ValueError):
            active = resolved(self._objects, self._found.modules, "threading._active")
            for _, thread, _ in self._objects.items(active):
                own = {name: at for name, at, _ in self._objects.attributes(thread)}
                number = self._objects.values.brief(own.get("_native_id", 0))
                found[int(number)] = self._objects.text(own.get("_name", 0)) or ""
        return found

    def row(self, name: str, address: int) -> Seen:
        """An object as a row: a container with its first items."""
        said = self._objects.values.describe(address)
        if isinstance(said, Unknown) or not address:
            return Seen(name, said if isinstance(said, str) else said.reason)
        kind, _, value = said.partition(" ")
        with contextlib.suppress(Unreadable):
            value = self._short(address, kind) or value
        opens = address if address and kind not in _NO_CONTENTS else 0
        return Seen(name, value, kind, opens)

    def _short(self, address: int, kind: str) -> str:
        brief = self._objects.values.brief
        if kind in ("list", "tuple"):
            rows, count = contents(self._objects, address, SHOWN)
            inside = ", ".join([brief(at) for _, at in rows] + (["…"] if count > SHOWN else []))
            return f"[{inside}]" if kind == "list" else f"({inside}{',' if count == 1 else ''})"
        if kind == "dict":
            rows, count = contents(self._objects, address, SHOWN)
            inside = ", ".join(
                [f"{key[1:-1]}: {brief(at)}" for key, at in rows] + (["…"] if count > SHOWN else [])
            )
            return f"{{{inside}}}"
        said = dict(array(self._objects, address))
        return f"{said['dtype']} {said['shape']} {said.get('values', '')}".rstrip() if said else ""

    def children(self, address: int) -> list[Seen]:
        """The contents of an object, an array's layout, and its reference count."""
        rows, count = contents(self._objects, address, OPENED_MAX)
        found = [self.row(name.removeprefix("."), at) for name, at in rows]
        if count > len(rows):
            found.append(Seen("…", f"{count - len(rows):,} more"))
        found += [Seen(name, text) for name, text in array(self._objects, address)]
        return [*found, Seen("(references)", str(references(self._objects, address)))]

    def variables(self, thread: int, index: int) -> list[Seen]:
        """The variables of a thread's n-th Python frame that are set."""
        return [self.row(name, value) for name, value in self._set(thread, index)]

    def _set(self, thread: int, index: int) -> list[tuple[str, int]]:
        frames = thread_frames(self._objects, self._found, thread)
        if index >= len(frames):
            return []
        slots = list(self._objects.variables(frames[index]))
        if not slots and (scope := self._objects.namespace(frames[index])):
            every = islice(self._objects.text_items(scope), _NAMES_MAX)
            return [(name, value) for name, value in every if not _SHELL.match(name)]
        return [(name, value) for name, at in slots if (value := self._memory.word(at))]

    def evaluated(self, thread: int, index: int, expression: str) -> Seen:
        """The object at a path of names, attributes and items, from a frame's variables or the globals of
        __main__; or what is computed from such. Raises InspectorError: not-a-path, no-such-path."""
        if self._is_computed(thread, index, expression):
            result = self._computed(thread, index).value(expression)
            return Seen(expression, repr(result), type(result).__name__)
        name, steps = parsed(expression)
        value = dict(self._set(thread, index)).get(name, 0)
        if value:
            return self.row(expression, followed(self._objects, Root(value, steps), expression))
        return self.row(expression, resolved(self._objects, self._found.modules, expression))

    def _computed(self, thread: int, index: int) -> Computed:
        def found(path: str) -> int:
            try:
                return self._at(thread, index, path, parsed(path)[1])
            except Unreadable as error:
                raise ValueError(f"{path} is not readable at {error}") from None

        def read(path: str) -> Any:
            array, key = self._indexed(thread, index, path)
            if array:
                return element(self._objects, array, key if isinstance(key, tuple) else (key,))
            return self._plain(found(path))

        return Computed(read, lambda path: self._size(found(path)))

    def _is_computed(self, thread: int, index: int, expression: str) -> bool:
        """Whether an expression is no path of objects: an element of an array is none either."""
        try:
            return bool(self._indexed(thread, index, expression)[0])
        except InspectorError as error:
            if error.slug != "not-a-path":
                raise
            return True

    def _indexed(self, thread: int, index: int, path: str) -> tuple[int, Any]:
        """The ndarray that a path's last step indexes, and by what; 0 for other paths."""
        steps = parsed(path)[1]
        if not steps or steps[-1].attribute:
            return 0, None
        base = self._at(thread, index, path, steps[:-1])
        return (base if shape(self._objects, base) is not None else 0), steps[-1].key

    def _plain(self, address: int) -> Any:
        """A number, a str or None. Raises ValueError for any other object."""
        kind = self._objects.type_name(address)
        if kind == "str" and self._size(address) <= _TEXT_MAX:
            return self._objects.values.text(address, _TEXT_MAX)
        if kind not in _PLAIN:
            raise ValueError(f"a {kind} is not computed with")
        return ast.literal_eval(self._objects.values.brief(address))

    def _size(self, address: int) -> int:
        """The length of a container or a str. Raises ValueError for any other object."""
        kind = self._objects.type_name(address)
        if kind == "str":
            return self._objects.memory.word(address + _LENGTH)
        if sizes := shape(self._objects, address):
            return sizes[0]
        if kind not in ("list", "tuple", "dict"):
            raise ValueError(f"the length of a {kind} is not read")
        return contents(self._objects, address, 0)[1]

    def bytes_of(self, thread: int, index: int, expression: str) -> dict[str, Any]:
        """address, bytes and letter of an array, of its element, or else of the variable or attribute itself.

        Raises InspectorError: not-a-path, no-such-path, nothing-to-watch.
        """
        name, steps = parsed(expression)
        key = steps[-1].key if steps and not steps[-1].attribute else None
        item = key if isinstance(key, tuple) else (key,)
        whole = tuple(one for one in item if type(one) is int and one >= 0)
        if key is not None and len(whole) == len(item):
            base = self._at(thread, index, expression, steps[:-1])
            if found := self._array(base, whole):
                return found
        address = self._at(thread, index, expression, steps)
        if found := self._array(address, ()):
            return found
        slot = 0
        if not steps:
            slot = self._slots(thread, index).get(name, 0)
        elif steps[-1].attribute:
            base = self._at(thread, index, expression, steps[:-1])
            slot = self._attribute(base, str(steps[-1].key))
        return _slot(slot, expression)

    def bytes_inside(self, address: int, name: str) -> dict[str, Any]:
        """The same of an item or an attribute of an object."""
        rows, _ = contents(self._objects, address, OPENED_MAX)
        value = next((at for one, at in rows if one.removeprefix(".") == name), 0)
        if value and (found := self._array(value, ())):
            return found
        return _slot(self._attribute(address, name), name)

    def _at(self, thread: int, index: int, expression: str, steps: list[Step]) -> int:
        name = parsed(expression)[0]
        path = name + "".join(map(str, steps))
        value = dict(self._set(thread, index)).get(name, 0)
        if value:
            return followed(self._objects, Root(value, steps), path)
        return resolved(self._objects, self._found.modules, path)

    def _array(self, address: int, item: tuple[int, ...]) -> dict[str, Any] | None:
        try:
            found = array_bytes(self._objects, address, item)
        except LookupError as error:
            raise _nothing(str(error)) from None
        return dict(zip(("address", "bytes", "letter"), found, strict=True)) if found else None

    def _slots(self, thread: int, index: int) -> dict[str, int]:
        frames = thread_frames(self._objects, self._found, thread)
        slots = dict(self._objects.variables(frames[index])) if index < len(frames) else {}
        if not slots and index < len(frames) and (scope := self._objects.namespace(frames[index])):
            rows = islice(self._objects.items(scope), _NAMES_MAX)
            slots = {self._objects.text(key) or "": slot for key, _, slot in rows}
        return slots

    def _attribute(self, address: int, name: str) -> int:
        return next((slot for one, _, slot in self._objects.attributes(address) if one == name), 0)


def _slot(slot: int, name: str) -> dict[str, Any]:
    if not slot:
        raise _nothing(f"{name} is neither an array, its element, a variable nor a stored attribute")
    return {"address": slot, "bytes": 8, "letter": "O"}


def _nothing(why: str) -> InspectorError:
    return InspectorError("it has no bytes to watch.", slug="nothing-to-watch", why=why, do="watch an array")


def opened(pid: int) -> PythonObjects | str:
    """The objects of a process, or why they cannot be read."""
    try:
        return PythonObjects(pid)
    except (InspectorError, Unreadable) as error:
        return str(error)
