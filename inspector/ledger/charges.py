"""Which call changed the counts that every run of the same code changes: one more run, which charges calls.

Hooks of the C API do not see macros, so the call that made an object, or touched it last, proves nothing.
Here the counts of these objects are compared around every call (native/leaks/charges.c), those of
destructors, getters and setters too. A call is named if it alone was charged with as much as a run changed.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from inspector import _native
from inspector.facts.leaks import Drift, Touch
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_module
from inspector.tracing.arm.targets import Targets
from inspector.tracing.arm.type_slots import Purpose, TypeSlots
from inspector.tracing.events.code_places import NOWHERE
from inspector.tracing.events.native_lines import native_line
from inspector.tracing.record.recorder import take_turn, turn_is_over

CHARGED_MAX: Final = 16
"""Objects of one run."""
_CALLED: Final = Unknown("a call from Python")
_TRASHCAN: Final = b"_PyTrash_begin"


def charged(
    drifts: Sequence[Drift],
    moved: Sequence[tuple[_native.Subject, Drift]],
    modules: tuple[str, ...],
    function: Callable[[], Any],
    in_copy: bool,
) -> tuple[Drift, ...]:
    """The drifts, those of `moved` with the call that one more run of `function` charges.

    `in_copy`: this process is a copy, in which deep structures may die without CPython's trashcan.
    """
    asked = [(subject, drift) for subject, drift in moved if _is_safe(subject, drift)][:CHARGED_MAX]
    if not asked:
        return tuple(drifts)
    with _armed(modules, in_copy) as armed:
        _native.charges_open([subject for subject, _ in asked])
        try:
            function()
        finally:
            rows = _native.charges_close()
    named = {id(drift): armed.named(drift, at, rows) for at, (_, drift) in enumerate(asked)}
    return tuple(replace(one, charged=named.get(id(one), ())) for one in drifts)


def _is_safe(subject: _native.Subject, drift: Drift) -> bool:
    """Whether it outlives one more run: of what falls, more must be left than a run takes."""
    count = subject.refcount()
    return count is None or count > 2 * max(0, -drift.changes[-1]) + 1


@dataclass(slots=True)
class _Armed:
    """What is hooked meanwhile."""

    targets: Targets
    types: TypeSlots = field(default_factory=lambda: TypeSlots(Purpose.CHARGES))
    lasting: TypeSlots = field(default_factory=lambda: TypeSlots(Purpose.LEDGER))
    """Of libraries whose destructors compare their own slot (the trashcan): these are left as they are."""
    numbers: list[int] = field(default_factory=list)

    def named(self, drift: Drift, at: int, rows: list[tuple[int, int, int]]) -> tuple[Touch, ...]:
        """The one call that was charged with as much as each run changed."""
        change = drift.changes[-1]
        found = [number for number, index, total in rows if index == at and total == change]
        if len(found) != 1 or not all(one == change for one in drift.changes):
            return ()
        name, function = self._name(found[0]), _native.calls_function(found[0])
        symbol, source = native_line(function, begins=True) if function else (_CALLED, _CALLED)
        return (Touch("unbalanced", "", "", name, symbol, source, NOWHERE, change),)

    def _name(self, number: int) -> str:
        at = self.targets.index(number, self.numbers)
        if at is not None:
            return self.targets.names[at]
        return self.types.names.get(number, "") or self.lasting.names.get(number, "")


@contextmanager
def _armed(modules: tuple[str, ...], in_copy: bool) -> Iterator[_Armed]:
    take_turn()
    targets = Targets.known(modules, buffers=False)
    armed = _Armed(targets)
    try:
        targets.look()
        armed.numbers = _native.methods_arm(targets.callables)
        asked = () if in_copy else targets.types
        compared = {kind for kind in asked if _uses_trashcan(type_module(kind))}
        armed.types.widen([kind for kind in targets.types if kind not in compared])
        armed.lasting.widen(list(compared))
        yield armed
    finally:
        armed.types.end()
        armed.lasting.end()
        _native.calls_disarm()
        turn_is_over()


def _uses_trashcan(module: str) -> bool:
    """Whether destructors of this module's library ask whether they are their type's."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and file.endswith(".so") and _TRASHCAN in Path(file).read_bytes()
