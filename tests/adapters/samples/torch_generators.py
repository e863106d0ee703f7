"""Objects that the adapter `torch_generators` is tried on."""

# SPDX-License-Identifier: MIT
import torch


class Seeded(torch.Generator):
    """A subclass of the user's."""


def samples():
    """One of its own, one that was used, one of a class of the user's, and the one that torch keeps too."""
    yield torch.Generator()
    used = torch.Generator()
    torch.rand(3, generator=used)
    yield used
    yield Seeded()
    yield torch.default_generator
