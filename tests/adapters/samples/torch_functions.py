"""Objects that the adapter `torch_functions` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

LIBRARY = "torch"


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 2


def samples() -> Iterator[Any]:
    """A node before and after backward, one whose tensors a hook packed, one of no graph."""
    yield Twice.apply(torch.ones(3, requires_grad=True)).grad_fn
    result = Twice.apply(torch.ones(3, requires_grad=True))
    node = result.grad_fn
    result.sum().backward()
    yield node
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy):
        yield Twice.apply(torch.ones(3, requires_grad=True)).grad_fn
    yield torch._C._FunctionBase()
