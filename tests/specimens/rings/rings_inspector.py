"""Rings for the inspector."""

# SPDX-License-Identifier: MIT
import rings

from inspector.adapters.base import Adapter, block


class Rings(Adapter):
    library, versions, exact = "rings", ("1.4", "2"), ("Ring",)

    def sample(self):
        return rings.Ring(8).fill()

    def waits(self, x):
        return "" if x.filled else "fill()"

    def elements(self, x):
        return (block(x, x.address, (len(x),), "d"),) if x.filled else ()

    def owner(self, x):
        return x.base


ADAPTER = Rings()
