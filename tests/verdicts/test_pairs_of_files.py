"""Two mappings of one file share its bytes, at different addresses: proved by writing through one."""

# SPDX-License-Identifier: MIT
import mmap
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]
BYTES = 80_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "prices.bin"
    file.write_bytes(bytes(BYTES))
    return file


def texts(a: Any, b: Any) -> list[str]:
    return [row.text for row in inspector.compare(a, b, names=("a", "b")).answers]


def test_two_maps_of_one_file(path: Path) -> None:
    a, b = (np.memmap(path, dtype="f8", mode="r+") for _ in range(2))
    said = "Both map `prices.bin`, at two addresses. All 80 kB belong to both; "
    assert texts(a, b) == [said + "a write through one is seen in the other.", "`b[i]` is `a[i]`."]
    found = inspector.shares(a, b)
    assert (found.overlap, found.overlap_bytes, found.file) == (True, BYTES, str(path))
    a[17] = 5.0
    assert b[17] == 5.0


def test_a_map_with_an_offset_and_a_part(path: Path) -> None:
    a = np.memmap(path, dtype="f8", mode="r+")
    b = np.memmap(path, dtype="f8", mode="r+", offset=4096 * 3)
    assert texts(a, b)[1] == f"`b[i]` is `a[i + {4096 * 3 // 8}]`."
    assert inspector.shares(a, b).overlap_bytes == BYTES - 4096 * 3
    assert inspector.shares(a[:10], b) == inspector.shares(a[:10], np.zeros(3))
    c = b[::2]
    assert texts(a[::-1], c)[1] == f"`b[i]` is `a[{BYTES // 8 - 1 - 1536} - 2*i]`."
    a[1536] = 7.0
    assert c[0] == 7.0


def test_a_reader_sees_the_writer(path: Path) -> None:
    a, b = np.memmap(path, dtype="f8", mode="r+"), np.memmap(path, dtype="u1", mode="r")
    first, second = texts(a, b)
    assert first.endswith("writing to `a` changes `b`, and `b` is read-only.")
    assert second == "`b[i]` is byte `i` of `a`."


def test_a_private_map_is_not_judged(path: Path) -> None:
    a, b = np.memmap(path, dtype="f8", mode="r+"), np.memmap(path, dtype="f8", mode="c")
    found = inspector.shares(a, b)
    assert isinstance(found.overlap, Unknown) and found.file == str(path)
    (said,) = texts(a, b)
    assert said == (
        "Both map `prices.bin`, at two addresses; `b` maps the file privately (copy-on-write): "
        "a page that was written is its own, others are the file's."
    )
    assert "`a` maps the file privately" in texts(b, a)[0]
    assert "each maps the file privately" in texts(b, np.memmap(path, dtype="f8", mode="c"))[0]


def test_mmap_and_memmap(path: Path) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as b:
        a = np.memmap(path, dtype="f8", mode="r+")
        assert texts(a, b)[0].startswith("Both map `prices.bin`")


def test_another_file_of_the_same_bytes(path: Path) -> None:
    other = path.with_name("other.bin")
    other.write_bytes(bytes(BYTES))
    a, b = np.memmap(path, dtype="f8", mode="r+"), np.memmap(other, dtype="f8", mode="r+")
    assert inspector.shares(a, b).overlap is False
    assert texts(a, b)[0].startswith("No byte in common")


def test_two_attachments_of_shared_memory() -> None:
    one = SharedMemory(create=True, size=4096)
    two = SharedMemory(name=one.name)
    try:
        a, b = (np.frombuffer(box.buf, "f8") for box in (one, two))
        assert "All 4.1 kB belong to both; a write through one is seen in the other." in texts(a, b)[0]
        a[3] = 3.0
        assert b[3] == 3.0
        del a, b
    finally:
        two.close()
        one.close()
        one.unlink()
