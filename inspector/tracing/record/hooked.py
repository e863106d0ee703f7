"""The tables that name the hooked slots and callables, and how much of each package is hooked."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Final

from inspector import _native
from inspector.facts.conversion import Seen
from inspector.objects.layouts.r_objects import text_of_na
from inspector.tracing.arm.targets import Targets, fits
from inspector.tracing.events.name_tables import Tables, library_of

ALLOCATOR: Final = -2
"""Row in `got_slots` of a slot through which memory is allocated."""
NO_TRAMPOLINE: Final = -1
"""Instead of a number: CALLS_FULL of native/trace/arm/calls.h."""


class Slots:
    """The slots that are hooked; hashed by identity. What a number stands for never changes."""

    def __init__(self, hooked: bytes) -> None:
        self.allocating: dict[int, str] = {}
        """Number of a slot through which memory is allocated -> library."""
        self.importing: dict[int, str] = {}
        """Number of a slot of the C API -> library."""
        self.of_path = Counter[str]()
        self.imports: list[tuple[str, int, int]] = []
        """Path, number of its imports that are hooked, and of those that have a row."""
        for path, row, first, count, imports, with_row in _native.got_libraries():
            numbers = range(first, first + count)
            its = dict.fromkeys(compress(numbers, hooked[first : first + count]), library_of(path))
            if row > ALLOCATOR and its:
                self.importing |= its
                self.of_path[path] += len(its)
                self.imports.append((path, imports, with_row))
            elif row == ALLOCATOR:
                self.allocating |= its

    def functions(self, paths: Collection[str]) -> dict[int, str]:
        """Number of a slot of these libraries -> function."""
        slots = ((number, _native.got_slot(number)) for number in (self.importing if paths else ()))
        return {number: function for number, (path, function, _) in slots if path in paths}


@lru_cache(1)
def slots_of(hooked: bytes) -> Slots:
    """The slots of `_native.got_hooked()`."""
    return Slots(hooked)


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
    given = _Given(found, found.changes, tuple(numbers), slots, tuple(without_trampoline.items()))
    names, modules, seen = _named(given)
    return Tables(
        names=dict(names),
        modules=dict(modules),
        import_modules=dict(slots.importing),
        hosts=slots.functions(hosts),
        constants=_constants() if hosts else {},
        hooked_imports=sum(count for path, count in slots.of_path.items() if path not in border),
        seen=seen,
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """What the names depend on; hashed by the slots, which are others once more is hooked."""

    found: Targets
    changes: int
    numbers: tuple[int, ...]
    slots: Slots
    without_trampoline: tuple[tuple[str, int], ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Given):
            return NotImplemented
        return self.found is other.found and self.slots is other.slots and self._rest() == other._rest()

    def __hash__(self) -> int:
        return hash(self.slots)

    def _rest(self) -> tuple[object, ...]:
        return self.changes, self.numbers, self.without_trampoline


@lru_cache(1)
def _named(given: _Given) -> tuple[dict[int, str], dict[int, str], tuple[Seen, ...]]:
    """Number -> name, number -> module, how much of each package is hooked: kept while all is the same."""
    found, numbers = given.found, given.numbers
    return (
        dict(zip(numbers, found.names, strict=False)),
        dict(zip(numbers, found.modules, strict=False)),
        _seen(found, numbers, given.slots, given.without_trampoline),
    )


def _constants() -> dict[int, str]:
    """R's NA string: an object of its own, which C cannot distinguish from another "NA"."""
    found: int = _native.unrecorded(text_of_na)
    return {found: "R's NA"} if found else {}


def _seen(
    found: Targets,
    numbers: Sequence[int],
    slots: Slots,
    without_trampoline: tuple[tuple[str, int], ...],
) -> tuple[Seen, ...]:
    """Per package: functions hooked, functions that cannot be hooked by kind, import slots hooked."""
    total = Counter(found.owners[: len(numbers)])
    not_hooked = [at for at, number in enumerate(numbers) if number < 0]
    left = Counter(found.owners[at] for at in not_hooked)
    full = Counter(found.owners[at] for at in not_hooked if numbers[at] == NO_TRAMPOLINE)
    unseen = found.unseen_by_package()
    imports = _imports(slots, found.packages(), without_trampoline)
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
    armed, total = Counter[str](), Counter(dict(without_trampoline))
    for path, imports, with_row in slots.imports:
        armed[path] += with_row
        total[path] += imports
    parts = {path: {*path.split("/")[:-1], library_of(path)} for path in total}
    names = set().union(*parts.values())
    counts = {}
    for package in packages:
        its = {name for name in names if fits(name, package)}
        paths = [path for path, of in parts.items() if not its.isdisjoint(of)]
        counts[package] = sum(armed[path] for path in paths), sum(total[path] for path in paths)
    return counts
