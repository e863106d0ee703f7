"""Objects that the adapter `pybind11_instances` is tried on."""

# SPDX-License-Identifier: MIT
import bindings
import pybind11  # noqa: F401 (so that a room without it skips)

made = bindings.made_by("pybind11")


def samples():
    """Owned, shared, keeping, borrowed, a subclass."""
    heir = type("Heir", (made.Box,), {})
    yield from (made.Box(1), made.Shared(), made.Keeper([]), made.the_box(), heir(2))
