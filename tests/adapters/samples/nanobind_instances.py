"""Objects that the adapter `nanobind_instances` is tried on."""

# SPDX-License-Identifier: MIT
import bindings
import nanobind  # noqa: F401 (so that a room without it skips)

made = bindings.made_by("nanobind")


def samples():
    """Inside the Python object, keeping, borrowed, a subclass."""
    heir = type("Heir", (made.Box,), {})
    yield from (made.Box(1), made.Keeper([]), made.the_box(), heir(2))
