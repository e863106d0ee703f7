"""Arrow arrays of an array: shared, cast, cut, joined."""

# SPDX-License-Identifier: MIT
import numpy as np
import pyarrow as pa
import told

pa.array([0.0])  # the first one imports pandas, where that is installed
a = np.random.default_rng(7).random(4096)
p = pa.array(a)
q = p.cast("float32")
back = p.to_numpy()
part = p.slice(100, 500)
whole = pa.concat_arrays([p, p])
texts = pa.array(["one", "two", "three"])

told.bytes_of(a, {"pa.array(a)": p, "p.to_numpy()": back, "p.slice(100, 500)": part})
told.bytes_of(a, {'p.cast("float32")': q, "pa.concat_arrays([p, p])": whole})
