"""Objects that the adapter `files` is tried on."""

# SPDX-License-Identifier: MIT
import io


def samples():
    """Open, closed, in memory, shared and written."""
    yield from (io.BytesIO(), io.BytesIO(bytes(range(50))), io.StringIO("text"))
    written, closed = io.BytesIO(bytes(range(50))), io.BytesIO(b"abc")
    written.write(b"x")
    closed.close()
    yield from (written, closed)
    for mode in ("r", "rb", "w+b"):
        with open("/dev/null", mode) as file:
            yield file
        yield file
