"""Python objects of a stopped process as an editor's variables, read from its memory; no code runs there."""

# SPDX-License-Identifier: MIT
import contextlib
import re
from itertools import islice
from typing import Final, NamedTuple

from inspector.debugger.attach.frames import thread_frames
from inspector.debugger.attach.look import array, contents, references
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.path import Root, followed, parsed, resolved
from inspector.debugger.attach.runtime import Runtime, runtime
from inspector.debugger.memory.remote_memory import RemoteMemory, Unreadable
from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown

SHOWN: Final = 6
"""Items of a container in its own row."""
OPENED_MAX: Final = 200
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
        __main__. Raises InspectorError: not-a-path, no-such-path."""
        name, steps = parsed(expression)
        value = dict(self._set(thread, index)).get(name, 0)
        if value:
            return self.row(expression, followed(self._objects, Root(value, steps), expression))
        return self.row(expression, resolved(self._objects, self._found.modules, expression))


def opened(pid: int) -> PythonObjects | str:
    """The objects of a process, or why they cannot be read."""
    try:
        return PythonObjects(pid)
    except (InspectorError, Unreadable) as error:
        return str(error)
