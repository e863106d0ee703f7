"""The names that reports show for IPython's namespaces and for the user's objects."""

# SPDX-License-Identifier: MIT
import re
from dataclasses import replace
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.heap import Difference

_OUTPUT = re.compile(r"_\d+")
_LAST = ("_", "__", "___")
_RESULT = re.compile(r"_{1,3}|_\d+")
_HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_ih|_oh|_dh|_sh|_exit_code|__\w+__")
_OURS = "inspector."
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

    A new `_12` stays: `Out` keeps its object alive. Objects of ours are no change of the cell.
    """
    own, ours = hidden(shell), [row for row in difference.types if row.type_name.startswith(_OURS)]
    kept = (row for row in difference.names if row.change == "born" and _OUTPUT.fullmatch(row.name))
    users = (row for row in difference.names if row.name not in own)
    moved = (row for row in users if row.change != "kept" or row.type_name not in _ATOMS)
    return replace(
        difference,
        names=(*moved, *kept),
        types=tuple(row for row in difference.types if row not in ours),
        objects=difference.objects - sum(row.objects for row in ours),
        bytes=difference.bytes - sum(row.bytes for row in ours),
    )


def hidden(shell: InteractiveShell) -> frozenset[str]:
    """IPython's own names: those it set and the user did not bind anew, and its history."""
    users, own = shell.user_ns, shell.user_ns_hidden
    return frozenset(
        name
        for name in list(users)
        if type(name) is str and (_HISTORY.fullmatch(name) or (name in own and own[name] is users.get(name)))
    )


def machinery(shell: InteractiveShell) -> tuple[Any, ...]:
    """Objects of IPython's through which a walk from the user's would reach all of IPython."""
    return (shell, shell.kernel) if hasattr(shell, "kernel") else (shell,)


def history(shell: InteractiveShell) -> dict[str, tuple[Any, str]]:
    """ "Out[4]" -> (the result, what lets it go); then names such as `_3` whose objects `Out` does not hold.

    IPython keeps the last three results a second time among its hidden names, where `%reset out` leaves them.
    """
    users, own = shell.user_ns, shell.user_ns_hidden
    results = users.get("_oh")
    last = {name: own[name] for name in _LAST if name in own}
    found = {f"Out[{key}]": one for key, one in results.items()} if type(results) is dict else {}
    found |= {name: users[name] for name in list(users) if type(name) is str and _RESULT.fullmatch(name)}
    told = {place: (one, _let_go(place, one, last)) for place, one in found.items()}
    return told | {f"user_ns_hidden['{name}']": (one, _push([name])) for name, one in last.items()}


def _let_go(place: str, one: Any, last: dict[str, Any]) -> str:
    do = "%reset out" if place[:4] == "Out[" or _OUTPUT.fullmatch(place) else f"del {place}"
    names = [name for name in last if last[name] is one]
    return f"{do}, then {_push(names)}" if names else do


def _push(names: list[str]) -> str:
    return f"get_ipython().push({dict.fromkeys(names, 0)}, False)"
