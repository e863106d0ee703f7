"""Floor 6: the notebook. Each `<name>_magic.py` is a magic: it parses, calls the api and shows."""

# SPDX-License-Identifier: MIT
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics

_replaced: WeakKeyDictionary[Magics, dict[str, dict[str, Any]]] = WeakKeyDictionary()
"""Our magics -> the user's magics that they replaced; `unregister` restores those."""


def register(shell: InteractiveShell) -> None:
    """Add all magics of this folder and their completion to the shell; calling it again is harmless."""
    from inspector.magics import ahead, awaiting, completion, facts_shown

    unregister(shell)
    for magic in _folder():
        ours = magic(shell=shell)
        _replaced[ours] = _present(shell, ours)
        shell.register_magics(ours)
    for part in (completion, awaiting, facts_shown, ahead):
        part.add(shell)


def unregister(shell: InteractiveShell) -> None:
    """Remove all that `register` added, `%config` rows too, and restore the magics that it replaced."""
    from inspector.magics import ahead, awaiting, completion, facts_shown

    for part in (completion, awaiting, facts_shown, ahead):
        part.remove(shell)
    table = shell.magics_manager
    for name in [name for name, magic in table.registry.items() if _is_ours(magic)]:
        ours = table.registry.pop(name)
        getattr(ours, "leave", lambda: None)()
        for kind, names in ours.magics.items():
            for magic in names:
                if getattr(table.magics[kind].get(magic), "__self__", None) is ours:
                    del table.magics[kind][magic]
        for kind, hidden in _replaced.pop(ours, {}).items():
            table.magics[kind].update(hidden)
    shell.configurables[:] = [one for one in shell.configurables if not _is_ours(one)]


def _present(shell: InteractiveShell, ours: Magics) -> dict[str, dict[str, Any]]:
    """The user's magics that `ours` will replace: kind -> name -> function."""
    table = shell.magics_manager.magics
    return {
        kind: {name: table[kind][name] for name in names if name in table[kind]}
        for kind, names in ours.magics.items()
    }


def _folder() -> Iterator[type[Magics]]:
    """The Magics classes of the folder's `*_magic.py`."""
    for file in pkgutil.iter_modules(__path__):
        if file.name.endswith("_magic"):
            module = importlib.import_module(f"{__name__}.{file.name}")
            for kind in vars(module).values():
                if isinstance(kind, type) and issubclass(kind, Magics) and kind.__module__ == module.__name__:
                    yield kind


def _is_ours(thing: Any) -> bool:
    return isinstance(thing, Magics) and type(thing).__module__.startswith(f"{__name__}.")
