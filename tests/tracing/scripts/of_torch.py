"""Tensors of an array: shared, copied, of another type, and of a list."""

# SPDX-License-Identifier: MIT
import numpy as np
import told
import torch

a = np.random.default_rng(7).random(4096)
t = torch.from_numpy(a)
u = torch.tensor(a)
v = t.float()
w = t.numpy()
x = torch.as_tensor([1.5, 2.5, 3.5] * 1000)

told.bytes_of(a, {"torch.from_numpy(a)": t, "torch.tensor(a)": u, "t.float()": v, "t.numpy()": w})
told.bytes_of(a, {"torch.as_tensor([1.5, 2.5, 3.5] * 1000)": x})
told.conversions("torch.as_tensor([1.5, 2.5, 3.5] * 1000)", f"PySequence_Size ×2 → {x.numel()}")
