"""Function pointers in libraries' own data through which they call Python, from dlsym or a constant table.

A host that opens libpython and looks up each function by dlsym imports nothing, so it has no import slots.
Its variables are patched instead (native/trace/arm/pointers.c), and dlsym returns hooks meanwhile
(native/trace/arm/lookups.c). A word that its owner changes while it is patched is left alone.
"""

# SPDX-License-Identifier: MIT
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
    """Patched while the trace runs: `modules` as in `inspector.trace`, `grade` as for `_native.got_arm`.

    Words of the chosen modules' libraries; if no module is chosen, or ctypes or cffi is, also of libraries
    that import nothing of Python. `_native.got_disarm` restores them with the import slots.
    """

    def __init__(self, modules: Iterable[str], grade: int) -> None:
        names = tuple(modules)
        self.everywhere = not names or any(name.partition(".")[0] in PATTERNS for name in names)
        self.grade = grade
        self.chosen = frozenset[str]()
        self._watch = LoadWatch(self._look)

    def widen(self, chosen: frozenset[str]) -> None:
        """Patch the words of these libraries and of hosts, and those of libraries loaded since."""
        self.chosen = chosen
        self._look()
        self._watch.widen()

    def end(self) -> None:
        """Stop looking for new words."""
        self._watch.end()

    def _look(self) -> None:
        found = self.chosen
        if self.everywhere:
            hosts = frozenset(_native.got_hosts())
            found |= hosts | frozenset(_native.hosts_arm(hosts | _others()))
        _native.got_arm(found, self.grade, True)


def _others() -> frozenset[str]:
    """Libraries outside the system and packages: they may become hosts."""
    paths = _native.got_objects()
    return frozenset(p for p in paths if "-packages/" not in p and not p.startswith(_INSTALLED))


def hooked() -> list[tuple[int, str]]:
    """(slot, path of the library) of each word patched now."""
    slots = _native.got_slots()
    return [(slot[0], slot[1]) for slot in slots if slot[_IS_ON] and slot[_IS_POINTER]]


def with_pointers(seen: tuple[Seen, ...], words: list[tuple[int, str]]) -> tuple[Seen, ...]:
    """`seen` with the numbers of patched words and of those their owners changed; called at the end."""
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
    """The package whose folder contains it, else the library itself."""
    return next((name for name in packages if f"/{name}/" in path), library_of(path))
