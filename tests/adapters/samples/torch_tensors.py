"""Objects that the adapter `torch_tensors` is tried on."""

# SPDX-License-Identifier: MIT
import warnings

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def samples():
    """Owners, views, foreign and shared blocks, tensors without bytes, storages."""
    x = torch.arange(24, dtype=torch.int16).view(2, 3, 4)
    yield from (x, x[1:], x.mT, x.detach(), x.expand(5, 2, 3, 4), x[:0], torch.tensor(3.5))
    yield from (torch.zeros(2, 1, 1, 1, 1, 1, 3), torch.ones(2, dtype=torch.bfloat16))
    yield from (torch.from_numpy(np.arange(4.0)), torch.frombuffer(bytearray(8), dtype=torch.float32))
    clone = torch._lazy_clone(torch.ones(3))
    yield from (clone, torch._lazy_clone(clone))
    yield from (torch.ones(2, dtype=torch.complex64).conj(), torch._efficientzerotensor(3))
    yield from (torch.empty(10**6, 10**6, device="meta"), torch.nn.Parameter(torch.ones(2)))
    freed = torch.ones(4)
    freed.untyped_storage().resize_(0)
    yield freed
    with FakeTensorMode():
        yield torch.empty(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # beta, deprecated
        yield from (torch.eye(5).to_sparse(), torch.eye(5).to_sparse_csr(), torch.nn.LazyLinear(3).weight)
        yield torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8)
        yield torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    yield from (torch.ones(4).untyped_storage(), torch.ones(4).share_memory_())
