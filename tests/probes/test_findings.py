"""Each danger on a real object that has it, and none on its neighbour that has not."""

# SPDX-License-Identifier: MIT
import ctypes
import io
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fingerprints
import numpy as np
import pandas as pd
import pytest

import inspector
from inspector.facts.finding import KINDS

pytestmark = [pytest.mark.core, pytest.mark.contract, pytest.mark.quick]
LARGE = np.arange(1_000_000.0)
RAW = (ctypes.c_double * 100)()


def slugs(x: Any) -> set[str]:
    before = fingerprints.fingerprint(x)
    found = {one.slug for one in inspector.materialization(x).findings}
    assert fingerprints.fingerprint(x) == before
    assert found == {one.slug for one in inspector.findings(x)}, "the verb says the same"
    return found


def over(address: int, count: int) -> Any:
    return (ctypes.c_double * count).from_address(address)


PAIRS: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
    ("borrowed-pointer", lambda: over(ctypes.addressof(RAW), 10), lambda: (ctypes.c_double * 10)()),
    (
        "borrowed-pointer",
        lambda: np.ctypeslib.as_array(over(ctypes.addressof(RAW), 10)),
        lambda: np.ctypeslib.as_array((ctypes.c_double * 10)()),
    ),
    (
        "borrowed-pointer",
        lambda: memoryview(over(ctypes.addressof(RAW), 10)),
        lambda: memoryview((ctypes.c_double * 10).from_buffer(bytearray(80))),
    ),
    ("large-base", lambda: LARGE[:3], lambda: LARGE[:900_000]),
    ("large-base", lambda: memoryview(bytearray(10**6))[:5], lambda: memoryview(bytearray(1000))[:5]),
    ("large-base", lambda: np.frombuffer(bytes(10**6), "u1", 7), lambda: np.frombuffer(bytes(7), "u1")),
    ("shared-copy-on-write", lambda: io.BytesIO(b"x" * 64), io.BytesIO),
]


@pytest.mark.parametrize(
    ("slug", "has", "has_not"), PAIRS, ids=[f"{i}-{row[0]}" for i, row in enumerate(PAIRS)]
)
def test_the_one_that_has_it_and_the_one_that_has_not(
    slug: str, has: Callable[[], Any], has_not: Callable[[], Any]
) -> None:
    assert slugs(has()) == {slug}
    assert slugs(has_not()) == set()


def test_a_pending_write_back_and_after() -> None:
    source = np.arange(6, dtype="i4")
    with np.nditer(
        source, [], [["readwrite", "updateifcopy"]], op_dtypes=["f8"], casting="unsafe"
    ) as iterator:
        assert "pending-write-back" in slugs(iterator)
        assert slugs(iterator.operands[0]) == {"pending-write-back"}
        assert slugs(source) == set()
    assert slugs(source) == set()


def test_a_file_that_was_cut_and_one_that_was_not(tmp_path: Path) -> None:
    whole = np.memmap(tmp_path / "whole", "u1", "w+", shape=10 * mmap.PAGESIZE)
    cut = np.memmap(tmp_path / "cut", "u1", "w+", shape=10 * mmap.PAGESIZE)
    assert slugs(whole) == slugs(cut) == set()
    os.truncate(tmp_path / "cut", mmap.PAGESIZE)
    found = [slugs(one) for one in (whole, cut, cut[: mmap.PAGESIZE], pd.Series(cut, copy=False))]
    # The first page of it is there. Nothing that was cut stands in the assert: pytest would read it to draw
    # it, which is a SIGBUS.
    assert found == [set(), {"truncated-file"}, set(), {"truncated-file"}]


def test_each_slug_has_its_words() -> None:
    assert all(kind.what and kind.why and kind.do and kind.certain for kind in KINDS)
    assert len({kind.slug for kind in KINDS}) == len(KINDS) == 8
