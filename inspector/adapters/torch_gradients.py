"""The gradient that a tensor has, by its struct in C++: asking torch for it would make an object of it."""

# SPDX-License-Identifier: MIT
from inspector.adapters.base import Elements
from inspector.objects.layouts.torch_nodes import meta
from inspector.objects.layouts.torch_tensors import Tensor, only_storage


def gradient_of(found: Tensor | None) -> tuple[Elements, ...]:
    """The bytes of its gradient's storage; () without one."""
    of = meta(found.autograd) if found is not None and found.autograd else None
    kept = only_storage(of.gradient) if of is not None and of.gradient else None
    if kept is None or not kept.start:
        return ()
    where = Elements("struct fields", kept.start, (kept.bytes,), (1,), 1, "uint8", "B", False, "torch.Tensor")
    return (where,)
