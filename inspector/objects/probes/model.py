"""The column `model`: the tensors of a module or an optimizer."""

# SPDX-License-Identifier: MIT
from inspector import _native
from inspector.adapters.registry import adapter_of
from inspector.facts.model import Model


def model(subject: _native.Subject) -> Model | None:
    """Its tensors, each storage once; None if it is no module or optimizer. Calls nothing of its class."""
    adapter = adapter_of(type(subject.get()))
    return adapter.model(subject.get()) if adapter is not None else None
