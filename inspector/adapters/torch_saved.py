"""torch._C._autograd.SavedTensor: a tensor saved for backward() as an object, as checkpoints keep it."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter
from inspector.adapters.beyond import Beyond
from inspector.adapters.told import Layer, Told
from inspector.adapters.torch_beyond import Walk, cdata
from inspector.adapters.torch_functions import ADAPTER as FUNCTIONS
from inspector.adapters.torch_tensors import lent
from inspector.facts.unknown import Unknown
from inspector.objects.layouts.torch_nodes import saved_at


class TorchSaved(Adapter):
    """An object of pybind11 around a SavedVariable, which is read; `unpack` would run hooks."""

    library = "torch"
    versions = ("2.13", "2.14")
    inherited = ("_C._autograd.SavedTensor",)

    def is_ready(self) -> bool:
        """After nodes of the graph can be read."""
        return FUNCTIONS.is_ready() and hasattr(sys.modules["torch"]._C._autograd, "SavedTensor")

    def beyond(self, x: Any, found: Beyond) -> None:
        """The tensor that was saved, or what hooks made of it."""
        Walk(found, lent).add_saved(x)

    def layers(self, x: Any) -> Told:
        """The object; the tensor behind it has layers of its own."""
        is_there = saved_at(cdata(id(x))) is not None
        layer = Layer("wrapper", "SavedTensor", "computed" if is_there else "closed", "none")
        return Told((layer,), logical_bytes=Unknown("see its tensor"))


ADAPTER = TorchSaved()
