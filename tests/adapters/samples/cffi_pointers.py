"""Objects that the adapter `cffi_pointers` is tried on."""

# SPDX-License-Identifier: MIT
import cffi

ffi = cffi.FFI()
ffi.cdef("struct pair { int a; double b; }; struct unknown;")


def samples():
    """Owned, borrowed, lent, released; structs, numbers, handles, callbacks, buffers."""
    numbers, pair = ffi.new("int[4]"), ffi.new("struct pair *")
    yield from (numbers, pair, pair[0], ffi.new("char[]", b"text"), ffi.new("struct pair[2]"))
    yield from (ffi.cast("int *", numbers), numbers + 1, numbers[1:3], ffi.addressof(pair, "b"))
    yield from (ffi.cast("void *", numbers), ffi.cast("struct unknown *", numbers), ffi.NULL)
    yield from (ffi.cast("int", 5), ffi.cast("double", 1.5), ffi.cast("wchar_t", "w"))
    yield from (ffi.from_buffer(bytearray(16)), ffi.from_buffer("int[]", bytearray(16)), ffi.buffer(numbers))
    released = ffi.from_buffer(bytearray(16))
    ffi.release(released)
    collected = ffi.gc(numbers, lambda _: None)
    yield from (released, collected, ffi.new_handle([]), ffi.callback("int(int)")(abs))
