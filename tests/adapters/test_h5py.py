"""h5py on the real library: what of a dataset is stored, closed files, files that Python reads."""

# SPDX-License-Identifier: MIT
import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_stored_in_part_and_not_at_all(h5py: Any, look: Look, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        whole = file.create_dataset("whole", data=np.arange(10.0))
        chunked = file.create_dataset("chunked", (10**9,), "f8", chunks=(1000,))
        told = look(whole)
        assert (told.state, told.logical_bytes) == ("lazy", 80)
        assert told.layers[1].value == "computed" and told.layers[0].storage == "remote/on disk"
        told = look(chunked)
        assert told.state == "lazy" and told.logical_bytes == 8 * 10**9
        assert told.layers[1].evidence[0].says == "0 B of 8,000,000,000 B"
        chunked[:5] = 1
        told = look(chunked)
        assert told.state == "partially materialized"
        said = [one.says for one in told.layers[1].evidence]
        assert said == ["8,000 B of 8,000,000,000 B", "allocated in part", "1"]
        assert look(file).layers[0].value == "computed"
        none = file.create_dataset("none", data=h5py.Empty("f"))
        zero = file.create_dataset("zero", (0, 3), "i4")
        one = file.create_dataset("one", data=3.0)
        assert [look(x).logical_bytes for x in (none, zero, one)] == [0, 0, 8]
    assert look(chunked).state == look(file).state == "closed"
    assert bool(chunked) is False


def test_a_file_that_python_reads_is_not_read(h5py: Any, look: Look) -> None:
    class Counted(io.BytesIO):
        reads = 0

        def readinto(self, *arguments: Any) -> Any:
            Counted.reads += 1
            return super().readinto(*arguments)

    with h5py.File(Counted(), "w") as file:
        dataset = file.create_dataset("x", data=np.ones(1000), chunks=(10,))
        before = Counted.reads
        told = look(dataset)
        assert Counted.reads == before
        assert isinstance(told.layers[1].value, Unknown)


def test_another_thread_in_hdf5_is_not_waited_for(h5py: Any, look: Look, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", data=[1.0])
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with h5py._objects.phil:
                held.set()
                done.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)
        state = inspector.materialization(dataset).state
        done.set()
        thread.join()
        assert isinstance(state, Unknown) and "another thread" in state.reason
