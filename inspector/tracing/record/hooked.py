"""The tables that name the hooked slots and callables, and how much of each package is hooked."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final

from inspector import _native
from inspector.facts.conversion import Seen
from inspector.objects.layouts.r_objects import text_of_na
from inspector.tracing.arm.targets import Targets, fits
from inspector.tracing.events.name_tables import NAMED, Tables, library_of

ALLOCATOR: Final = -2
"""Row in `got_slots` of a slot through which memory is allocated."""
NO_TRAMPOLINE: Final = -1
"""Instead of a number: CALLS_FULL of native/trace/arm/calls.h."""


Slot = tuple[int, str, str, int, int]
"""Number, path of the library, function, row as in `_native.got_slots()`, whether it is a word of the
library's own data. What a number stands for never changes."""


class Slots:
    """The slots that are hooked; hashed by identity."""

    def __init__(self, rows: Iterable[Slot]) -> None:
        self.allocating: dict[int, str] = {}
        """Number of a slot through which memory is allocated -> library."""
        self.importing: list[Slot] = []
        for slot in rows:
            if slot[3] > ALLOCATOR:
                self.importing.append(slot)
            elif slot[3] == ALLOCATOR:
                self.allocating[slot[0]] = library_of(slot[1])
        self.of_path = Counter(slot[1] for slot in self.importing)
        names = {path: library_of(path) for path in self.of_path}
        self.libraries = {slot[0]: names[slot[1]] for slot in self.importing}


@lru_cache(1)
def slots_of(hooked: bytes) -> Slots:
    """The slots of `_native.got_hooked()`."""
    shared: dict[str, str] = {}
    return Slots(
        (number, shared.setdefault(path, path), shared.setdefault(function, function), row, is_pointer)
        for number, path, function, row, *_, is_pointer, _ in compress(_native.got_slots(), hooked)
    )


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
        hosts={slot[0]: slot[2] for slot in slots.importing if slot[1] in hosts} if hosts else {},
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
    imports = [slot for slot in slots.importing if slot[3] >= NAMED and not slot[4]]
    armed = Counter(slot[1] for slot in imports if slot[3] > NAMED)
    total = Counter(slot[1] for slot in imports) + Counter(dict(without_trampoline))
    parts = {path: {*path.split("/")[:-1], library_of(path)} for path in total}
    names = set().union(*parts.values())
    counts = {}
    for package in packages:
        its = {name for name in names if fits(name, package)}
        paths = [path for path, of in parts.items() if not its.isdisjoint(of)]
        counts[package] = sum(armed[path] for path in paths), sum(total[path] for path in paths)
    return counts
