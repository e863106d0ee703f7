"""zarr on the real library: chunks that were written, stores that are never contacted."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import pytest
from asking import Look

from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_written_in_part(zarr: Any, look: Look, tmp_path: Path) -> None:
    for store in (zarr.storage.MemoryStore(), zarr.storage.LocalStore(tmp_path)):
        x = zarr.create_array(store, name="x", shape=(100,), chunks=(10,), dtype="f8")
        told = look(x)
        assert (told.state, told.logical_bytes) == ("lazy", 800)
        x[:15] = 1
        told = look(x)
        assert told.state == "partially materialized"
        assert told.layers[1].what.endswith("2 of 10")
        x[:] = 1
        told = look(x)
        assert told.state == "lazy" and told.layers[1].value == "computed"


def test_the_other_format_and_no_dimension(zarr: Any, look: Look) -> None:
    store = zarr.storage.MemoryStore()
    x = zarr.create_array(store, name="x", shape=(10, 10), chunks=(4, 4), dtype="i2", zarr_format=2)
    x[:4, :4] = 7
    assert look(x).layers[1].what.endswith("1 of 9") and look(x).logical_bytes == 200
    y = zarr.create_array(zarr.storage.MemoryStore(), name="y", shape=(), dtype="f4")
    z = zarr.create_array(zarr.storage.MemoryStore(), name="z", shape=(0,), chunks=(1,), dtype="f4")
    assert [look(one).logical_bytes for one in (y, z)] == [4, 0]


def test_a_store_of_another_kind_is_never_contacted(zarr: Any, look: Look) -> None:
    contacted = []

    class Remote(zarr.storage.MemoryStore):  # type: ignore[misc, name-defined]
        async def get(self, *arguments: Any, **named: Any) -> Any:
            contacted.append("get")
            return await super().get(*arguments, **named)

        async def list_prefix(self, *arguments: Any) -> Any:
            contacted.append("list")
            async for key in super().list_prefix(*arguments):
                yield key

    x = zarr.create_array(Remote(), name="x", shape=(100,), chunks=(10,), dtype="f8")
    contacted.clear()
    told = look(x)
    assert contacted == []
    assert isinstance(told.layers[1].value, Unknown) and "not contacted" in told.layers[1].value.reason


def test_more_files_than_are_counted(zarr: Any, look: Look, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("inspector.adapters.zarr_arrays.MOST_CHUNKS", 5)
    x = zarr.create_array(zarr.storage.LocalStore(tmp_path), name="x", shape=(100,), chunks=(10,), dtype="f8")
    x[:] = 1
    assert isinstance(look(x).layers[1].value, Unknown)
