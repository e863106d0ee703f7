"""Lazy modules of importlib.util.LazyLoader: reading any attribute loads them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.adapters.base import Defaults

if TYPE_CHECKING:
    from inspector.adapters.told import Told


class ImportlibModules(Defaults):
    """Only the type is read: any getattr would load the module."""

    library = "importlib"
    exact = ("util._LazyModule",)

    def layers(self, x: Any) -> Told:
        """lazy."""
        from inspector.adapters.told import Layer, Told, of_type

        use = ("x.attribute", "dir(x)", "hasattr")
        layer = Layer(
            "wrapper",
            "module",
            "lazy",
            "remote/on disk",
            "owned",
            (of_type("_LazyModule"),),
            use,
            ("type(x)",),
        )
        return Told((layer,), waits_for="an attribute")


ADAPTER = ImportlibModules()
