"""Objects that the adapter `mmap_files` is tried on."""

# SPDX-License-Identifier: MIT
import mmap


def samples():
    """Open and closed."""
    closed = mmap.mmap(-1, 100)
    closed.close()
    yield from (mmap.mmap(-1, 4096), closed)
