"""Functions of a module that Cython compiled."""

# SPDX-License-Identifier: MIT
import array

import made_by_cython as made
import told

seven = made.add(35, -28)
x = array.array("d", range(1000))
part = made.part(x)
packed = made.packed(x)

told.bytes_of(x, {"made.part(x)": part, "made.packed(x)": packed})
told.called("made.add(35, -28)", "made_by_cython.add", f"{seven}")
told.conversions("made.add(35, -28)", f"PyLong_FromLong → {seven}")
