"""Objects that the adapter `h5py_datasets` is tried on."""

# SPDX-License-Identifier: MIT
import io

import h5py
import numpy as np


def samples():
    """Contiguous, chunked, empty, virtual in part; closed ones; a file behind Python."""
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        whole = file.create_dataset("whole", data=np.arange(10.0))
        chunked = file.create_dataset("chunked", (10**9,), "f8", chunks=(1000,))
        chunked[:5] = 1
        yield from (file, file.create_group("group"), whole, chunked, file.create_dataset("one", data=3.0))
        yield file.create_dataset("text", data=["a", "b"])
        yield file.create_dataset("none", data=h5py.Empty("f"))
        yield file.create_dataset("zero", (0, 3), "i4")
    yield from (file, whole)
    with h5py.File(io.BytesIO(), "w") as behind:
        yield behind.create_dataset("x", data=[1, 2])
