"""Objects that the adapter `zarr_arrays` is tried on."""

# SPDX-License-Identifier: MIT
import tempfile

import zarr
from zarr.storage import LocalStore, MemoryStore


def samples():
    """In memory and on disk: written in part, not at all, wholly, without dimensions."""
    with tempfile.TemporaryDirectory() as folder:
        for n, store in enumerate((MemoryStore(), LocalStore(folder))):
            some = zarr.create_array(store, name="some", shape=(100,), chunks=(10,), dtype="f8")
            some[:15] = 1
            none = zarr.create_array(
                store, name="none", shape=(10, 10), chunks=(4, 4), dtype="i2", zarr_format=2
            )
            yield from (some, none, zarr.create_array(store, name=f"all{n}", shape=(), dtype="f4"))
            yield zarr.create_array(store, name="text", shape=(3,), dtype="U3", zarr_format=2)
