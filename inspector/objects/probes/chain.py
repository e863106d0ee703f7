"""The shortest path from a root to an object: module, frame, namespace, thread; each step named."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from pathlib import Path

from inspector import _native
from inspector.facts.chain import Chain
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, Unknown

_FOLDER = f"{Path(__file__).parents[2]}/"
_HISTORIES = ("Out", "DisplayHook")
_NO_SYMBOL = Unknown("held by a Python object, not by native code")
_Step = tuple[str, str, str, int, int, str | int | tuple[str]]


def chain(subject: _native.Subject, names: Mapping[int, str]) -> Chain:
    """Owners from a root to the object, each holding the next; of several shortest paths one.

    Roots: namespaces and state of loaded modules, variables and globals of running functions, what threads
    keep, and the namespaces of `names` (id of a dict -> the user's name). The namespace of an instance,
    a class or a module is one with it: `bus.callback` is one step. The tool's own frames are no roots.
    """
    steps, seen, walk_ns, _ = _native.chain(subject, tuple(names), _FOLDER)
    looked = f"{seen:,} objects followed in {walk_ns / 1e6:,.1f} ms"
    if steps is None:
        why = "C code holds it without telling the garbage collector, or nobody does"
        return Chain(False, (), f"no path from modules, frames or threads ({looked}): {why}")
    return Chain(True, tuple(_owner(step, names) for step in steps), looked)


def _owner(step: _Step, names: Mapping[int, str]) -> Owner:
    kind, _, _, _, address, key = step
    if names.get(address) in _HISTORIES:
        kind = "history"
    shown = _key(kind, key)
    kind = "item" if kind == "key" else kind
    return Owner(kind, _holder(step, names), shown, 1, True, Address(address), _NO_SYMBOL, _NO_SYMBOL)


def _holder(step: _Step, names: Mapping[int, str]) -> str:
    kind, type_name, name, length, address, _ = step
    if address in names:
        return names[address]
    if kind in ("global", "local") and name:
        return _place(type_name, name) if kind == "local" else Path(name).name
    if type_name == "thread":
        return "a thread"
    if length >= 0:
        return f"{type_name} ({length:,} {'item' if length == 1 else 'items'})"
    return f"{type_name} {name}" if name else type_name


def _place(file: str, function: str) -> str:
    return Path(file).name if function == "<module>" else f"{function} ({Path(file).name})"


def _key(kind: str, key: str | int | tuple[str]) -> str:
    """A key as source would write it: "name", ".name", "[0]", "['k']"."""
    if kind == "key":
        return "a key"
    if isinstance(key, tuple):
        return f"[<{key[0]}>]"
    if isinstance(key, int):
        return f"[{key}]"
    if kind in ("attribute", "slot", "bound method", "type"):
        return f".{key}" if key else ""
    return f"['{key}']" if kind in ("item", "history", "cache") and key else key
