"""Functions of libm and libc, and buffers over an array."""

# SPDX-License-Identifier: MIT
import cffi
import numpy as np
import told

ffi = cffi.FFI()
ffi.cdef("double cos(double); size_t strlen(const char *);")
m, c = ffi.dlopen("libm.so.6"), ffi.dlopen(None)
value = m.cos(1.0)
length = c.strlen(b"hello")
a = np.random.default_rng(7).random(1000)
d = ffi.from_buffer("double[]", a)
raw = bytes(ffi.buffer(d))
view = np.frombuffer(ffi.buffer(d))
made = ffi.new("double[]", [0.5, 1.5])

told.bytes_of(a, {"bytes(ffi.buffer(d))": raw, "np.frombuffer(ffi.buffer(d))": view})
told.called("m.cos(1.0)", "libm.so.6:cos", f"{value!r}")
told.called('c.strlen(b"hello")', "libc.so.6:strlen", f"{length}")
told.conversions('ffi.new("double[]", [0.5, 1.5])', f"PyFloat_AsDouble ×{len(made)} → {made[0]}")
