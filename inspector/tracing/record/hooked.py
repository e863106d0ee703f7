"""The tables that name the hooked slots and callables, and how much of each package is hooked."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from inspector import _native
from inspector.facts.conversion import Seen
from inspector.objects.layouts.r_objects import text_of_na
from inspector.tracing.arm.targets import Targets, fits
from inspector.tracing.events.name_tables import NAMED, Tables, library_of

NO_TRAMPOLINE: Final = -1
"""Instead of a number: CALLS_FULL of native/trace/arm/calls.h."""


def told(
    found: Targets,
    numbers: Sequence[int],
    slots: Sequence[tuple[Any, ...]],
    hosts: Collection[str] = (),
    border: Collection[str] = (),
    without_trampoline: Mapping[str, int] = {},
) -> Tables:
    """The tables of what is hooked now; `slots`: those rows of `_native.got_slots()` that are in use.

    `border`: libraries of which only the border slots are hooked, not those that convert.
    `without_trampoline`: path of a library -> number of slots that cannot be hooked, not in `slots`.
    """
    return Tables(
        names=dict(zip(numbers, found.names, strict=False)),
        modules=dict(zip(numbers, found.modules, strict=False)),
        import_modules={slot[0]: library_of(slot[1]) for slot in slots},
        hosts={slot[0]: slot[2] for slot in slots if slot[1] in hosts},
        constants=_constants() if hosts else {},
        hooked_imports=sum(slot[1] not in border for slot in slots),
        seen=_seen(found, numbers, slots, without_trampoline),
    )


def _constants() -> dict[int, str]:
    """R's NA string: an object of its own, which C cannot distinguish from another "NA"."""
    found: int = _native.unrecorded(text_of_na)
    return {found: "R's NA"} if found else {}


def _seen(
    found: Targets,
    numbers: Sequence[int],
    slots: Sequence[tuple[Any, ...]],
    without_trampoline: Mapping[str, int],
) -> tuple[Seen, ...]:
    """Per package: functions hooked, functions that cannot be hooked by kind, import slots hooked."""
    owners = [name.partition(".")[0] for name in found.modules]
    packages = dict.fromkeys(owners)
    hooked = Counter(one for number, one in zip(numbers, owners, strict=False) if number >= 0)
    full = Counter(one for number, one in zip(numbers, owners, strict=False) if number == NO_TRAMPOLINE)
    imports = [slot for slot in slots if slot[3] >= NAMED and not slot[11]]
    armed = Counter(slot[1] for slot in imports if slot[3] > NAMED)
    all_ = Counter(slot[1] for slot in imports) + Counter(without_trampoline)
    return tuple(
        Seen(
            module=package,
            functions_hooked=hooked[package],
            functions_unseen=found.unseen_of(package),
            imports_hooked=sum(armed[path] for path in paths),
            imports=sum(all_[path] for path in paths),
            functions_left_out=full[package],
        )
        for package in packages
        for paths in (_paths_of(package, all_),)
    )


def _paths_of(package: str, paths: Iterable[str]) -> set[str]:
    """Libraries in the package's folders or beside them, or the package's own file."""
    return {
        path
        for path in paths
        if any(fits(name, package) for name in (*path.split("/")[:-1], library_of(path)))
    }
