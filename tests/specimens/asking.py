"""The adapter that knows an object, and its answers, the object found unchanged after them."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

from fingerprints import fingerprint

from inspector.adapters import registry
from inspector.adapters.base import Adapter
from inspector.adapters.told import Told
from inspector.facts.materialization import Materialization

Look = Callable[[object], Materialization]
"""The fixture `look` of tests/adapters."""
Tell = Callable[[Any], Told]
"""The fixture `told`."""


def adapter(x: Any) -> Adapter:
    """The adapter of the type of `x`; the reasons of those that are left out where there is none."""
    found = registry.adapter_of(type(x))
    assert found is not None, registry.problems()
    return found


def unchanged(x: Any, state: Callable[[Any], Any]) -> Told:
    """What the adapter tells; all its questions left the object, and `state(x)`, as they were."""
    knows = adapter(x)
    before = (fingerprint(x), state(x))
    answer = knows.layers(x)
    knows.elements(x), knows.spans(x), knows.holds(x), knows.owns(x), knows.names(x)
    assert (fingerprint(x), state(x)) == before
    return answer
