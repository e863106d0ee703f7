"""Lazy modules of importlib.util.LazyLoader: reading any attribute loads them."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector.adapters.base import Adapter
from inspector.adapters.told import Layer, Told, of_type


class ImportlibModules(Adapter):
    """Only the type is read: any getattr would load the module."""

    library = "importlib"
    exact = ("util._LazyModule",)

    def layers(self, x: Any) -> Told:
        """lazy."""
        use = ("x.attribute", "dir(x)", "hasattr")
        seen = (of_type("_LazyModule"),)
        layer = Layer("wrapper", "module", "lazy", "remote/on disk", "owned", seen, use, ("type(x)",))
        return Told((layer,), waits_for="an attribute")


ADAPTER = ImportlibModules()
