"""What `retained` says of 230 kinds of objects against what allocators count as freed when one is deleted."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import json
from collections.abc import Callable
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, Final

import kinds
import programs
import pytest

import inspector

FOLDER = Path(__file__).parents[1] / "specimens"
LEAST: Final = 65_536
ROUNDED: Final = 8
"""Bytes by which an object may differ from what was asked for it: blocks are multiples of 16."""
BY_MALLOC: Final = {
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


@functools.cache
def told(table: str) -> dict[str, list[Any]]:
    """Kind -> [what is said, what is freed, blocks freed], of a process of its own."""
    script = f"import sys, warnings; sys.path.insert(0, {str(FOLDER)!r}); warnings.simplefilter('ignore')\n"
    run = f"{script}import kinds_freed; kinds_freed.main(sys.argv[1:])"
    return dict(
        json.loads(
            programs.python(run, table, **(BY_MALLOC if table in ("OTHERS", "UNTOLD", "STRUCTS") else {}))
        )
    )


ROOMS: Final = {"STANDARD": "core", "NUMPY": "libraries", "FRAMES": "libraries", "OTHERS": "newest"}
"""Table of kinds -> the rooms in which its libraries are."""


def rows(rooms: dict[str, str]) -> list[Any]:
    """A parameter a kind: its table and its name."""
    return [
        pytest.param(table, name, marks=getattr(pytest.mark, room), id=name)
        for table, room in rooms.items()
        for name in getattr(kinds, table)
    ]


@pytest.mark.parametrize(("table", "name"), rows(ROOMS))
def test_deleting_an_object_frees_what_was_said(table: str, name: str) -> None:
    said, freed, blocks = told(table)[name]
    slack = max(LEAST, freed // 100) + ROUNDED * blocks
    assert isinstance(said, int), said
    assert said <= freed + slack, (said, freed, blocks)
    assert said >= freed - slack, (said, freed, blocks)


@pytest.mark.parametrize("left", [lambda t: t.column(0), lambda t: t[0].chunk(0).buffers()[1].slice(8)])
def test_what_others_share_in_cpp_is_not_freed(left: Callable[[Any], Any]) -> None:
    pa = pytest.importorskip("pyarrow", reason="cannot be installed")
    table = pa.table({"a": pa.array(list(range(125_000))), "b": pa.array(list(range(125_000)))})
    assert inspector.retained(table).retained_bytes > 2_000_000
    held = left(table)
    assert 1_000_000 < inspector.retained(table).retained_bytes < 1_010_000
    del table
    assert inspector.retained(held).retained_bytes > 1_000_000


@pytest.mark.parametrize(("table", "name"), rows({"STRUCTS": "core", "UNTOLD": "newest"}))
def test_what_a_library_does_not_tell_is_said_as_unknown(table: str, name: str) -> None:
    """A struct whose memory nothing tells of, and what is counted elsewhere."""
    said, freed, _ = told(table)[name]
    assert str(said).startswith("not all of it can be followed: "), (said, freed)
    assert freed > (LEAST if table == "STRUCTS" else 900_000), (said, freed)


def test_there_are_many_kinds() -> None:
    assert len({**kinds.STANDARD, **kinds.NUMPY, **kinds.FRAMES, **kinds.OTHERS}) >= 220


@pytest.mark.core
def test_shared_memory_outlives_its_object() -> None:
    shared = SharedMemory(create=True, size=1_000_000)
    try:
        told = inspector.retained([shared]).retained_bytes
        assert "1.0 MB of shared memory go when no process maps them" in told.reason
    finally:
        shared.close()
        shared.unlink()
