"""Objects that the adapter `language` is tried on."""

# SPDX-License-Identifier: MIT


def samples():
    """Bytes, and a memoryview that is released."""
    yield from (b"bytes", b"", bytearray(b"bytes"), memoryview(b"bytes")[::2], memoryview(bytearray(6)))
    released = memoryview(b"gone")
    released.release()
    yield released
