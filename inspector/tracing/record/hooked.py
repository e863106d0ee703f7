"""The tables that name the hooked slots and callables, and how much of each package is hooked."""

# SPDX-License-Identifier: MIT
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final, NamedTuple

from inspector import _native
from inspector.facts.conversion import Seen
from inspector.objects.layouts.r_objects import text_of_na
from inspector.tracing.arm.targets import Targets, fits
from inspector.tracing.events.name_tables import NAMED, Tables, library_of

ALLOCATOR: Final = -2
"""Row in `got_slots` of a slot through which memory is allocated."""
NO_TRAMPOLINE: Final = -1
"""Instead of a number: CALLS_FULL of native/trace/arm/calls.h."""


class Slot(NamedTuple):
    """What the number of a slot stands for; it never changes."""

    number: int
    path: str
    function: str
    row: int
    is_pointer: int


class Slots:
    """The slots that are hooked; hashed by identity."""

    def __init__(self, rows: Iterable[Slot]) -> None:
        some = tuple(rows)
        allocating = (slot for slot in some if slot.row == ALLOCATOR)
        self.allocating = {slot.number: library_of(slot.path) for slot in allocating}
        """Number of a slot through which memory is allocated -> library."""
        self.importing = [slot for slot in some if slot.row > ALLOCATOR]
        self.libraries = {slot.number: library_of(slot.path) for slot in self.importing}
        self.of_path = Counter(slot.path for slot in self.importing)


@lru_cache(1)
def slots_of(hooked: bytes) -> Slots:
    """The slots of `_native.got_hooked()`."""
    rows = compress(_native.got_slots(), hooked)
    return Slots(Slot(row[0], sys.intern(row[1]), sys.intern(row[2]), row[3], row[11]) for row in rows)


def told(
    found: Targets,
    numbers: Sequence[int],
    slots: Slots,
    hosts: Collection[str] = (),
    border: Collection[str] = (),
    without_trampoline: Mapping[str, int] = {},
) -> Tables:
    """The tables of what is hooked now; `slots` from `slots_of`.

    `border`: libraries of which only the border slots are hooked, not those that convert.
    `without_trampoline`: path of a library -> number of slots that cannot be hooked, not in `slots`.
    """
    return Tables(
        names=dict(zip(numbers, found.names, strict=False)),
        modules=dict(zip(numbers, found.modules, strict=False)),
        import_modules=dict(slots.libraries),
        hosts={slot.number: slot.function for slot in slots.importing if slot.path in hosts} if hosts else {},
        constants=_constants() if hosts else {},
        hooked_imports=sum(count for path, count in slots.of_path.items() if path not in border),
        seen=_seen(found, numbers, slots, without_trampoline),
    )


def _constants() -> dict[int, str]:
    """R's NA string: an object of its own, which C cannot distinguish from another "NA"."""
    found: int = _native.unrecorded(text_of_na)
    return {found: "R's NA"} if found else {}


def _seen(
    found: Targets, numbers: Sequence[int], slots: Slots, without_trampoline: Mapping[str, int]
) -> tuple[Seen, ...]:
    """Per package: functions hooked, functions that cannot be hooked by kind, import slots hooked."""
    total = Counter(found.owners[: len(numbers)])
    not_hooked = [at for at, number in enumerate(numbers) if number < 0]
    left = Counter(found.owners[at] for at in not_hooked)
    full = Counter(found.owners[at] for at in not_hooked if numbers[at] == NO_TRAMPOLINE)
    unseen = found.unseen_by_package()
    imports = _imports(slots, found.packages(), tuple(without_trampoline.items()))
    return tuple(
        Seen(
            module=package,
            functions_hooked=total[package] - left[package],
            functions_unseen=unseen[package],
            imports_hooked=imports[package][0],
            imports=imports[package][1],
            functions_left_out=full[package],
        )
        for package in found.packages()
    )


@lru_cache(1)
def _imports(
    slots: Slots, packages: tuple[str, ...], without_trampoline: tuple[tuple[str, int], ...]
) -> dict[str, tuple[int, int]]:
    """Package -> (import slots that are hooked, and have a row; all) of the libraries in its folders or
    beside them, or of its own file."""
    imports = [slot for slot in slots.importing if slot.row >= NAMED and not slot.is_pointer]
    armed = Counter(slot.path for slot in imports if slot.row > NAMED)
    total = Counter(slot.path for slot in imports) + Counter(dict(without_trampoline))
    parts = {path: {*path.split("/")[:-1], library_of(path)} for path in total}
    names = set().union(*parts.values())
    counts = {}
    for package in packages:
        its = {name for name in names if fits(name, package)}
        paths = [path for path, of in parts.items() if not its.isdisjoint(of)]
        counts[package] = sum(armed[path] for path in paths), sum(total[path] for path in paths)
    return counts
