"""Functions of a module that pybind11 bound."""

# SPDX-License-Identifier: MIT
import made_by_pybind11 as made
import numpy as np
import told

seven = made.add(35, -28)
a = np.random.default_rng(7).random(1000)
same = made.doubles(a)
wide = made.doubles(a.astype("f4"))
total = made.total([0.5, 1.5, 2.5])

told.bytes_of(a, {"made.doubles(a)": same})
told.bytes_of(a, {'made.doubles(a.astype("f4"))': wide})
told.called("made.add(35, -28)", "made_by_pybind11.add", f"{seven}")
told.conversions("made.add(35, -28)", "PyLong_AsLong ×2 → 35", f"PyLong_FromSsize_t → {seven}")
told.conversions("made.total([0.5, 1.5, 2.5])", "PyFloat_AsDouble ×3 → 0.5", f"PyFloat_FromDouble → {total}")
