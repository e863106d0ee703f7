"""Series over an array: shared, copied, of another type, sorted."""

# SPDX-License-Identifier: MIT
import numpy as np
import pandas as pd
import told

a = np.random.default_rng(7).random(4096)
s = pd.Series(a, copy=False)
there = s.to_numpy()
copied = s.copy()
narrow = s.astype("float32")
order = s.sort_values()

told.bytes_of(a, {"s.to_numpy()": there, "s.copy()": copied.to_numpy()})
told.bytes_of(a, {'s.astype("float32")': narrow.to_numpy(), "s.sort_values()": order.to_numpy()})
