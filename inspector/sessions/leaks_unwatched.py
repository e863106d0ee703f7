"""Modules that were asked for and not watched, or never called: nothing may be concluded about them."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Final

from inspector.errors import InspectorError
from inspector.facts.amounts import counted
from inspector.facts.leaks import WatchedModule

NAMED: Final = 3
"""Names in a message."""
_CYTHONS: Final = ("_cython_", "__pyx_")
"""In names of what Cython makes for itself: closures anew at each call, their scopes. It is named, and no
error."""


def unwatched(seen: Iterable[WatchedModule]) -> InspectorError | None:
    """The error `not-watched` for the first module of which nothing was hooked; None if each was."""
    first = next((one for one in seen if one.why), None)
    if first is None:
        return None
    return InspectorError(
        f"nothing of {first.module} was watched, so nothing is known about its references.",
        slug="not-watched",
        why=first.why,
        do="name the extension module that the code imports and calls",
    )


def uncalled(seen: Iterable[WatchedModule]) -> InspectorError | None:
    """The error `not-called` for the first module that was hooked and never called; None if each was."""
    first = next((one for one in seen if one.module and not one.why and one.is_silent), None)
    if first is None:
        return None
    return InspectorError(
        f"no call of {first.module} was seen, so nothing is known about its references.",
        slug="not-called",
        why=f"{first.functions} functions and {first.slots} import slots were hooked; none was used",
        do="run code that calls it; for what it starts: inspector leaks --children -- PROGRAM",
    )


def partly(seen: Iterable[WatchedModule]) -> InspectorError | None:
    """The error `not-watched` for the first module of which something may have been called unseen."""
    first = next((one for one in seen if one.module and (one.made or _hidden(one))), None)
    if first is None:
        return None
    names = ", ".join(name or "a function without a name" for name in _hidden(first)[:NAMED])
    said = counted(first.unseen, "type or function was", "types or functions were")
    return InspectorError(
        f"{first.module}: {said} not watched: what calls of them lose is not known.",
        slug="not-watched",
        why=f"no hook reaches {names}" if names else "they were made while the code ran",
        do="make them before the block begins: what lives by then is watched",
    )


def _hidden(one: WatchedModule) -> list[str]:
    return [name for name in one.unhooked if not any(word in name for word in _CYTHONS)]
