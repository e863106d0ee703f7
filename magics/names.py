"""How the user knows IPython's namespaces: the names that owners of references are given."""

from __future__ import annotations

import re
from dataclasses import replace

from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.heap import Difference

_OUTPUT = re.compile(r"_\d+")
_ATOMS = ("int", "float", "bool", "str", "bytes", "NoneType", "module", "type", "function")


def namespaces(shell: InteractiveShell) -> dict[int, str]:
    """id of a dict -> what the user calls it: the user's names, `Out`, and what holds `_`, `__`, `___`."""
    known = {id(shell.user_ns): "notebook" if hasattr(shell, "kernel") else "IPython"}
    history = shell.user_ns.get("_oh")
    if type(history) is dict:
        known[id(history)] = "Out"
    known[id(vars(shell.displayhook))] = "DisplayHook"
    known[id(shell.user_ns_hidden)] = "IPython's hidden names"
    return known


def objects(shell: InteractiveShell) -> dict[int, str]:
    """id of an object -> the first of the user's names for it."""
    own = hidden(shell)
    found: dict[int, str] = {}
    for name in list(shell.user_ns):
        if name not in own and name in shell.user_ns:
            found.setdefault(id(shell.user_ns[name]), name)
    return found


def of_the_user(shell: InteractiveShell, difference: Difference) -> Difference:
    """The difference without IPython's own names, and without numbers whose references others moved.

    A new `_12` stays: it says what `Out` keeps alive.
    """
    own = hidden(shell)
    kept = (row for row in difference.names if row.change == "born" and _OUTPUT.fullmatch(row.name))
    users = (row for row in difference.names if row.name not in own and not row.name.startswith("_"))
    moved = (row for row in users if row.change != "kept" or row.type_name not in _ATOMS)
    return replace(difference, names=(*moved, *kept))


def hidden(shell: InteractiveShell) -> frozenset[str]:
    """Names that are IPython's own, or begin with an underscore: `%who` leaves out the same."""
    users, own = shell.user_ns, shell.user_ns_hidden
    return frozenset(
        name
        for name in list(users)
        if type(name) is str and (name.startswith("_") or (name in own and own[name] is users.get(name)))
    )
