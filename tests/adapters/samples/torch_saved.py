"""Objects that the adapter `torch_saved` is tried on."""

# SPDX-License-Identifier: MIT
import torch


def samples():
    """Of a leaf, of a result, packed by hooks, and one that was used."""
    leaf = torch.ones(3, requires_grad=True)
    make = torch._C._autograd._make_saved_tensor
    yield make(leaf, is_output=False)
    yield make(leaf * 2, is_output=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(force=True), torch.from_numpy):
        yield make(leaf, is_output=False)
