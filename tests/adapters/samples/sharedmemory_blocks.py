"""Objects that the adapter `sharedmemory_blocks` is tried on."""

# SPDX-License-Identifier: MIT
from multiprocessing.shared_memory import SharedMemory


def samples():
    """Open and closed."""
    made = SharedMemory(create=True, size=5000)
    made.unlink()
    yield made
    made.close()
    yield made
