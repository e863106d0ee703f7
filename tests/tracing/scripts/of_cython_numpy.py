"""Functions of a module that Cython compiled with `cimport numpy`: they call NumPy by its table."""

# SPDX-License-Identifier: MIT
import made_by_cython_numpy as made
import numpy as np
import told

x = np.random.default_rng(7).random(1000)
fresh = made.fresh(500)
copied = made.copied(x)
turned = made.turned(x)
total = made.total(np.arange(5.0))

told.bytes_of(x, {"made.copied(x)": copied, "made.turned(x)": turned})
told.called("made.total(np.arange(5.0))", "made_by_cython_numpy.total", f"{total}")
told.conversions("made.fresh(500)", f"PyArray_New → {fresh.ndim}, made {fresh.nbytes} B")
told.conversions("made.copied(x)", f"PyArray_NewCopy, copied {copied.nbytes} B")
told.conversions("made.turned(x)", f"PyArray_Transpose, shared {turned.nbytes} B")
