"""The names that reports show for IPython's namespaces and for the user's objects."""

# SPDX-License-Identifier: MIT
import re
from dataclasses import replace

from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.heap import Difference

_OUTPUT = re.compile(r"_\d+")
_ATOMS = ("int", "float", "bool", "str", "bytes", "NoneType", "module", "type", "function")


def namespaces(shell: InteractiveShell) -> dict[int, str]:
    """id of a dict -> its name: the user's namespace, `Out`, and the dict of `_`, `__`, `___`."""
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
    """The difference without IPython's names, and without shared constants whose refcount others changed.

    A new `_12` stays: `Out` keeps its object alive.
    """
    own = hidden(shell)
    kept = (row for row in difference.names if row.change == "born" and _OUTPUT.fullmatch(row.name))
    users = (row for row in difference.names if row.name not in own and not row.name.startswith("_"))
    moved = (row for row in users if row.change != "kept" or row.type_name not in _ATOMS)
    return replace(difference, names=(*moved, *kept))


def hidden(shell: InteractiveShell) -> frozenset[str]:
    """IPython's own names, and names with a leading underscore; `%who` hides the same."""
    users, own = shell.user_ns, shell.user_ns_hidden
    return frozenset(
        name
        for name in list(users)
        if type(name) is str and (name.startswith("_") or (name in own and own[name] is users.get(name)))
    )
