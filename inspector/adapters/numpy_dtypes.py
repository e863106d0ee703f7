"""NumPy: element types whose arrays hold objects in fields, which nothing follows."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter
from inspector.adapters.beyond import Beyond


class StructuredTypes(Adapter):
    """VoidDType; that of a structured array with a field of objects says what is not known."""

    library = "numpy"
    versions = ("1.26", "3")
    exact = ("dtypes.VoidDType",)

    def self_test(self) -> None:
        """One of numbers holds no objects; with a field of them it does."""
        make = sys.modules["numpy"].dtype
        if make([("a", "i4")]).hasobject or not make([("a", "i4"), ("b", "O")]).hasobject:
            raise ValueError("a structured dtype does not tell whether it holds objects")

    def beyond(self, x: Any, found: Beyond) -> None:
        """Unknown, where a field holds objects: native/objects/arrays.c follows arrays of objects only."""
        if x.hasobject:
            found.why = "objects in the fields of a structured array are not followed"


ADAPTER = StructuredTypes()
