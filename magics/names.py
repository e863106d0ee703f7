"""The names that reports show for IPython's namespaces and for the user's objects."""

# SPDX-License-Identifier: MIT
import re
from dataclasses import replace
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.heap import Difference

_OUTPUT = re.compile(r"_\d+")
_RESULT = re.compile(r"_{1,3}|_\d+")
_HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_ih|_oh|_dh|_sh|_exit_code|__\w+__")
_MODULES = ("In", "Out", "exit", "quit", "open", "get_ipython")
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
    users = (row for row in difference.names if row.name not in own)
    moved = (row for row in users if row.change != "kept" or row.type_name not in _ATOMS)
    return replace(difference, names=(*moved, *kept))


def hidden(shell: InteractiveShell) -> frozenset[str]:
    """IPython's own names: those it set and the user did not bind anew, and its history."""
    users, own = shell.user_ns, shell.user_ns_hidden
    return frozenset(
        name
        for name in list(users)
        if type(name) is str
        and (_HISTORY.fullmatch(name) or (name in own and own[name] is users.get(name)) or name in _MODULES)
    )


def history(shell: InteractiveShell) -> dict[str, Any]:
    """ "Out[4]" -> the result; then `_`, `_3` ... -> objects that they hold though `Out` does not."""
    users, results = shell.user_ns, shell.user_ns.get("_oh")
    found = {f"Out[{key}]": value for key, value in results.items()} if type(results) is dict else {}
    known = set(map(id, found.values()))
    names = [name for name in list(users) if type(name) is str and _RESULT.fullmatch(name)]
    return found | {name: users[name] for name in names if id(users[name]) not in known}
