"""The column `autograd`: the graph that a result, or all results in a container, keep for backward()."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_attribute
from inspector.adapters.registry import adapter_of, shared
from inspector.facts.autograd import Autograd
from inspector.objects.layers.plain import INSTANCES, plain
from inspector.objects.reach.beyond import leaves
from inspector.objects.reach.freed import freed

_CONTAINERS = (list, tuple, dict, set, frozenset)


def autograd(subject: _native.Subject) -> Autograd | None:
    """What a graph keeps; None if no graph is there. Reads C++ structs; calls nothing."""
    knowing = [one for one in shared().awake if _knows(one)]
    if not knowing:
        return None
    adapter = adapter_of(type(subject.get()))
    held = [subject.get()] if adapter is not None else _held(subject)
    found = next((told for one in knowing if (told := _told(one, held)) is not None), None)
    del held
    if found is None:
        return None
    kept = freed(subject)
    return replace(found, retained_bytes=kept.retained_bytes, never_freed_bytes=kept.never_freed_bytes)


def _told(adapter: Adapter, held: list[Any]) -> Autograd | None:
    mine = [x for x in held if adapter_of(type(x)) is adapter]
    return adapter.graph(mine) if mine else None


def _held(subject: _native.Subject) -> list[Any]:
    """What a container or an instance holds; nothing of any other object."""
    kind = type(subject.get())
    if any(kind is one for one in _CONTAINERS) or plain(kind) is INSTANCES:
        return leaves((subject,), _knows)[0]
    return []


def _knows(adapter: Adapter) -> bool:
    return type_attribute(type(adapter), "graph") is not Adapter.graph
