"""Cards of the bytes: what is plain is short, what is odd is said, what hurts has its slug."""

# SPDX-License-Identifier: MIT
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from inspector._native import Subject
from inspector.objects.probes.buffer import buffer
from inspector.objects.probes.sharing import pairs, sharing
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = [pytest.mark.core, pytest.mark.quick]


def drawn(x: object, ask: bool = False) -> str:
    fact = buffer(Subject(x), ask)
    assert fact is not None
    return re.sub(r"\[(heap|anonymous)\]", "[ memory ]", plain_text(view(fact), Drawing()))


def test_a_small_view_of_a_large_base() -> None:
    big = np.arange(100_000.0)
    text = drawn(big[20:32].reshape(3, 4).T)
    assert "bytes    96 B   inside big (800 kB), at +160 B" in text
    assert "owner    big    ndarray, 800 kB, owns its memory, 2 references" in text
    assert re.search("speaks   buffer  __array_interface__  __array_struct__  DLPack +not asked", text)
    assert len(text) < 1000


def test_an_owner_is_plain() -> None:
    text = drawn(np.arange(10))
    assert "owner" not in text and "warn" not in text
    assert text.startswith(" bytes    80 B ")


def test_what_is_odd_is_said() -> None:
    x = np.arange(6)
    assert "48 B   in 24 B of memory" in drawn(np.lib.stride_tricks.as_strided(x, (2, 3), (0, 8)))
    assert "read-only" in drawn(b"fixed")
    content = bytearray(8)
    view_ = memoryview(content)
    assert "exports  1      buffers that consumers hold" in drawn(content)
    del view_
    assert "through DummyArray" in " ".join(drawn(np.lib.stride_tricks.sliding_window_view(x, 2)).split())
    frame = pd.DataFrame({"a": [1.0], "b": [1]})
    assert "16 B   2 blocks, each in a place of its own" in drawn(frame)
    assert "owner    2 ndarray  16 B in all" in drawn(frame)
    assert "writes" not in drawn(frame)
    column = frame["a"]
    assert (
        "writes   2 holders: the first write copies  copy-on-write" in drawn(column) or pd.__version__ < "3"
    )


def test_a_file(tmp_path: Any) -> None:
    path = tmp_path / "prices.bin"
    path.write_bytes(bytes(8192))
    assert "[shared file prices.bin +4096]" in drawn(np.memmap(path, mode="r")[4096:])


def test_answers_have_a_line_each() -> None:
    text = drawn(np.arange(3, dtype="i2"), ask=True)
    assert "speaks   buffer  h (3,), writable" in text
    assert "speaks   DLPack  int16 (3,), writable" in text
    assert "not asked" not in text


def shares(a: object, b: object) -> str:
    return plain_text(view(sharing(Subject(a), Subject(b))), Drawing())


def test_sharing_in_a_line() -> None:
    x = np.arange(100.0)
    assert shares(x[::2], x[:50]) == " shares   200 B  of a common extent of 400 B\n"
    assert shares(x[::2], x[1::2]) == " shares   nothing  no byte belongs to both\n"
    assert shares(x, 5) == " shares   ? int lays no bytes open\n"
    (pair,) = pairs({"x": Subject(x), "y": Subject(x[1:])})
    assert plain_text(view(pair), Drawing()).startswith(" shares   x · y  792 B")
