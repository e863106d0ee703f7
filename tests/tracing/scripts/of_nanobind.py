"""Functions of a module that nanobind bound."""

# SPDX-License-Identifier: MIT
import made_by_nanobind as made
import numpy as np
import told

seven = made.add(35, -28)
a = np.random.default_rng(7).random(1000)
same = made.same(a)
box = made.Box(7)  # its constructor is called with a bit of nanobind's own beside the count
assert box.n == 7

told.bytes_of(a, {"made.same(a)": same})
told.called("made.add(35, -28)", "made_by_nanobind.add", f"{seven}")
told.conversions("made.add(35, -28)", f"PyLong_FromLong → {seven}")
