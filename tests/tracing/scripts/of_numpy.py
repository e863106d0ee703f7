"""Arrays viewed, turned, made narrower; a list in, a list out."""

# SPDX-License-Identifier: MIT
import numpy as np
import told

a = np.random.default_rng(7).random((64, 64))
same = np.asarray(a)
turned = np.ascontiguousarray(a.T)
narrow = a.astype("f4")
listed = np.array([1, 2, 3])
plain = np.arange(20).tolist()

told.bytes_of(a, {"np.asarray(a)": same, "np.ascontiguousarray(a.T)": turned, 'a.astype("f4")': narrow})
told.conversions("np.array([1, 2, 3])", f"PyLong_AsLongLong ×{len(listed)} → {listed[0]}")
told.conversions("np.arange(20).tolist()", f"PyLong_FromLong ×{len(plain)} → {plain[0]}")
