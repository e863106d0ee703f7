"""Words of libraries' own data through which they call Python: dlsym put it there, or a table of constants.

A host that opens libpython and asks dlsym for each function imports nothing, so it has no import slots. The
words of its variables are hooked instead (native/trace/arm/pointers.c), and what it asks for meanwhile is answered with
a hook (native/trace/arm/lookups.c). What its owner changes while it is hooked is the owner's, and left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from inspector import _native
from inspector.facts.conversion import Seen
from inspector.tracing.arm.foreign_calls import PATTERNS
from inspector.tracing.arm.imports import LoadWatch
from inspector.tracing.events.name_tables import library_of

_INSTALLED: Final = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
_IS_ON, _IS_POINTER, _IS_CHANGED = 6, 11, 12
"""Columns of `_native.got_slots`."""


class Pointers:
    """Hooked while the trace runs: `modules` as in `inspector.trace`, `grade` as `_native.got_arm` takes it.

    Words of the chosen modules' libraries; and of libraries that import nothing of Python where no module is
    chosen, or ctypes or cffi is. They are given back with the import slots, by `_native.got_disarm`.
    """

    def __init__(self, modules: Iterable[str], grade: int) -> None:
        names = tuple(modules)
        self.everywhere = not names or any(name.partition(".")[0] in PATTERNS for name in names)
        self.grade = grade
        self.chosen = frozenset[str]()
        self._watch = LoadWatch(self._look)

    def widen(self, chosen: frozenset[str]) -> None:
        """Hook what these libraries, and hosts, hold by now, and what others do as they are loaded."""
        self.chosen = chosen
        self._look()
        self._watch.widen()

    def end(self) -> None:
        """Look no more."""
        self._watch.end()

    def _look(self) -> None:
        found = self.chosen
        if self.everywhere:
            hosts = frozenset(_native.got_hosts())
            found |= hosts | frozenset(_native.hosts_arm(hosts | _others()))
        _native.got_arm(found, self.grade, True)


def _others() -> frozenset[str]:
    """Libraries that are no part of the system or of a package: they may become hosts."""
    paths = _native.got_objects()
    return frozenset(p for p in paths if "-packages/" not in p and not p.startswith(_INSTALLED))


def hooked() -> list[tuple[int, str]]:
    """(slot, path of the library) of each word that is hooked now."""
    slots = _native.got_slots()
    return [(slot[0], slot[1]) for slot in slots if slot[_IS_ON] and slot[_IS_POINTER]]


def with_pointers(seen: tuple[Seen, ...], words: list[tuple[int, str]]) -> tuple[Seen, ...]:
    """What was seen, with the words that were hooked, and those their owners changed; asked at its end."""
    slots: list[Any] = _native.got_slots() if words else []
    rows = {one.module: one for one in seen}
    names = {path: _package_of(path, rows) for _, path in words}
    counts = Counter(names[path] for _, path in words)
    changed = Counter(names[path] for number, path in words if slots[number][_IS_CHANGED])
    for name, count in counts.items():
        row = rows.get(name, Seen(name, 0, {}, 0, 0))
        rows[name] = replace(row, pointers_hooked=count, pointers_changed=changed[name])
    return tuple(rows.values())


def _package_of(path: str, packages: Iterable[str]) -> str:
    """The package whose folder it lies in, else the library itself."""
    return next((name for name in packages if f"/{name}/" in path), library_of(path))
