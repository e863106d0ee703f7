"""Objects that the adapter `torch_functions` is tried on."""

# SPDX-License-Identifier: MIT
import torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def samples():
    """A node before and after backward, one whose tensors a hook packed, one of no graph."""
    yield Twice.apply(torch.ones(3, requires_grad=True)).grad_fn
    result = Twice.apply(torch.ones(3, requires_grad=True))
    node = result.grad_fn
    result.sum().backward()
    yield node
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy):
        yield Twice.apply(torch.ones(3, requires_grad=True)).grad_fn
    yield torch._C._FunctionBase()
