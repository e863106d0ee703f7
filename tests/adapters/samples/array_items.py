"""Objects that the adapter `array_items` is tried on."""

# SPDX-License-Identifier: MIT
import array


def samples():
    """With items and without."""
    yield from (array.array("d", [1.0, 2.0]), array.array("B"))
