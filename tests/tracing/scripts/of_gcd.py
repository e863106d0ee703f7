"""The gcd of an extension written by hand."""

# SPDX-License-Identifier: MIT
import math

import gcd_module
import told

seven = gcd_module.gcd(35, 42)

assert seven == math.gcd(35, 42)
told.called("gcd_module.gcd(35, 42)", "gcd_module.gcd", f"{seven}")
told.conversions("gcd_module.gcd(35, 42)", 'PyArg_ParseTuple "ii" → 35, 42', f'Py_BuildValue "i" → {seven}')
