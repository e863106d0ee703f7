"""Objects that the adapter `torch_modules` is tried on."""

# SPDX-License-Identifier: MIT
import torch
from torch import nn


class Lying(nn.Linear):
    def __getattr__(self, name):
        raise RuntimeError("the code of a user's class ran")


def samples():
    """Modules plain, tied, on meta, without a shape, whose class lies; optimizers before and after a step."""
    yield nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    yield nn.Linear(3, 4, device="meta")
    yield nn.LazyLinear(4)
    lying = nn.Linear(2, 2)
    lying.__class__ = Lying
    yield lying
    module = nn.Linear(3, 4)
    yield torch.optim.SGD(module.parameters(), lr=0.1)
    stepped = torch.optim.Adam(module.parameters())
    module(torch.ones(2, 3)).sum().backward()
    stepped.step()
    yield stepped
