"""Functions of libm and libc, and arrays over a bytearray."""

# SPDX-License-Identifier: MIT
import ctypes

import told

m, c = ctypes.CDLL("libm.so.6"), ctypes.CDLL(None)
m.cos.restype, m.cos.argtypes = ctypes.c_double, [ctypes.c_double]
value = m.cos(1.0)
length = c.strlen(b"hello")
b = bytearray(range(256)) * 32
kind = ctypes.c_char * len(b)
view = kind.from_buffer(b)
copy = kind.from_buffer_copy(b)
raw = bytes(view)

told.bytes_of(b, {"kind.from_buffer(b)": view, "kind.from_buffer_copy(b)": copy, "bytes(view)": raw})
told.called("m.cos(1.0)", "libm.so.6:cos", f"{value!r}")
told.called('c.strlen(b"hello")', "libc.so.6:strlen", f"{length}")
told.conversions("m.cos(1.0)", "PyFloat_AsDouble → 1.0")
