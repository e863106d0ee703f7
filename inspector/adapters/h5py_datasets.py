"""h5py: files, groups and datasets; the file's own index tells how much of a dataset is stored."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from inspector.adapters.base import Adapter, stored, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.told import Layer, Told, attribute
from inspector.facts.unknown import Unknown

_SPACE = {0: "not allocated", 1: "allocated in part", 2: "allocated"}
"""H5D_space_status_t, H5Dpublic.h."""


class H5pyDatasets(Adapter):
    """Exact Dataset, Group and File. A file that is not local is not read."""

    library = "h5py"
    versions = ("3.11", "4")
    exact = ("Dataset", "Group", "File")

    def self_test(self) -> None:
        """In memory: an unwritten chunked dataset has no chunk; a closed one is not valid."""
        h5py = sys.modules["h5py"]
        with h5py.File("inspector", "w", driver="core", backing_store=False) as file:
            dataset = file.create_dataset("x", (4,), "f8", chunks=(2,))
            if _stored_bytes(_identifier(dataset)) != 0 or not _identifier(dataset).valid:
                raise ValueError("a dataset's index says bytes that are not there")
        if _identifier(dataset).valid:
            raise ValueError("a closed dataset is valid")

    def owns(self, x: Any) -> bool | Unknown:
        """False: its bytes are the file's."""
        return False

    def beyond(self, x: Any, found: Beyond) -> None:
        """Unknown how much: what libhdf5 caches."""
        found.why = "libhdf5 does not tell how much memory its caches have"

    def layers(self, x: Any) -> Told:
        """Each access reads the elements from the file; the space status tells how many were written."""
        kind, identifier = type_name(type(x)), _identifier(x)
        with _free() as free:  # `valid` too would wait for the lock
            if not free:
                busy = Unknown("another thread is in HDF5: it is not waited for")
                return Told((Layer("wrapper", kind, busy, busy, busy),), busy)
            said = (attribute("x.id.valid", int(identifier.valid)),)
            if not identifier.valid:
                return Told((Layer("wrapper", kind, "closed", "none", evidence=said),))
            if kind == "Dataset":
                return self._dataset(identifier)
            place: Any = "remote/on disk"
            return Told((Layer("wrapper", kind, "computed", place, "owned", said, (), ("repr", "keys()")),))

    def _dataset(self, identifier: Any) -> Told:
        shape, itemsize = identifier.shape, identifier.dtype.itemsize
        elements = identifier.get_space().get_simple_extent_npoints()
        below = self._storage(identifier, elements * itemsize)
        in_part = below.value == "partial"
        wrapper = Layer(
            "wrapper",
            f"Dataset {identifier.dtype} {shape}",
            value="partial" if in_part else "lazy",
            storage="remote/on disk",
            title="foreign",
            evidence=(attribute("x.id.valid", 1),),
            would=("x[...]", "np.asarray"),
            would_not=("repr", "x.shape", "x.nbytes"),
        )
        state: Any = "partially materialized" if in_part else "lazy"
        waits = "x[...]: each read goes to the file"
        return Told((wrapper, below), state, elements * itemsize, waits_for=waits)

    def _storage(self, identifier: Any, logical: int) -> Layer:
        if not _is_local(identifier):
            why = Unknown("its file is not a local one: not asked")
            return Layer("container", "storage", why, "remote/on disk", "foreign", depth=1)
        chunked = identifier.get_create_plist().get_layout() == 2
        bytes_, status = _stored_bytes(identifier), identifier.get_space_status()
        value: Any = {0: "lazy", 1: "partial"}.get(status, "computed")
        said = [attribute("get_storage_size()", f"{bytes_:,} B of {logical:,} B"),
                attribute("get_space_status()", _SPACE.get(status, status))]  # fmt: skip
        if chunked:
            said.append(attribute("get_num_chunks()", identifier.get_num_chunks()))
        else:
            said.append(attribute("get_offset()", identifier.get_offset()))
        what = f"{'chunks' if chunked else 'one block'} in the file, {bytes_:,} B"
        return Layer("container", what, value, "remote/on disk", "foreign", tuple(said), depth=1)


def _identifier(x: Any) -> Any:
    return stored(x, "_id")


def _stored_bytes(identifier: Any) -> int:
    return int(identifier.get_storage_size())


def _is_local(identifier: Any) -> bool:
    """Whether HDF5 reads a local file or memory itself: fileobj would run Python, ros3 use the network."""
    h5py = sys.modules["h5py"]
    driver = h5py.h5i.get_file_id(identifier).get_access_plist().get_driver()
    names = ("SEC2", "CORE", "STDIO", "DIRECT", "WINDOWS")
    return driver in [getattr(h5py.h5fd, name) for name in names if hasattr(h5py.h5fd, name)]


@contextmanager
def _free() -> Iterator[bool]:
    """Take h5py's lock if it is free; yields whether it was."""
    lock = sys.modules["h5py._objects"].phil
    taken = lock.acquire(blocking=False)
    try:
        yield taken
    finally:
        if taken:
            lock.release()


ADAPTER = H5pyDatasets()
