"""Type slots of the chosen modules, by an allow list, and capsules' destructors: patched and restored."""

# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from enum import IntEnum

from inspector import _native
from inspector.objects.classes import type_bases, type_module
from inspector.tracing.arm.type_files import subclasses

_name_of = type.__dict__["__qualname__"].__get__
CAPSULES = "destructor of a capsule"


class Purpose(IntEnum):
    """Which slots are patched, as type_slots_arm numbers it."""

    TRACE = 0
    LEDGER = 1
    CHARGES = 2


class TypeSlots:
    """Slots patched in types, and in the subclasses that share the pointer."""

    def __init__(self, purpose: Purpose = Purpose.TRACE) -> None:
        self._purpose = purpose
        self.names: dict[int, str] = {}
        self.modules: dict[int, str] = {}
        self.kinds: dict[int, int] = {}
        """Number -> id of the type; of a subclass that shares the slot, of the base that was found."""
        self._types: list[type] = []
        self._known: set[int] = set()

    def widen(self, types: Sequence[type]) -> None:
        """Patch the types found since, then the subclasses of all."""
        if not self.names and self._purpose is Purpose.TRACE:
            number = _native.type_slots_capsules()
            self.names[number], self.modules[number] = CAPSULES, "builtins"
        fresh = [kind for kind in types if id(kind) not in self._known]
        fresh.sort(key=lambda kind: len(type_bases(kind)))  # a base before what inherits its slots
        self._known.update(id(kind) for kind in fresh)
        self._types += fresh
        self._keep(_native.type_slots_arm(fresh, True, self._purpose))
        self._keep(_native.type_slots_arm(subclasses(self._types), False, self._purpose))

    def _keep(self, rows: list[tuple[int, type, str]]) -> None:
        for number, kind, slot in rows:
            home = next((base for base in type_bases(kind) if id(base) in self._known), kind)
            self.modules[number], self.kinds[number] = type_module(home), id(home)
            self.names[number] = f"{type_module(kind)}.{_name_of(kind)}.{slot}".removeprefix("builtins.")

    def end(self) -> None:
        """Remove our trampolines from classes that inherited them; calls_disarm must follow for the rest."""
        if self._types:
            _native.type_slots_settle(subclasses(self._types))
            self._types, self._known = [], set()
