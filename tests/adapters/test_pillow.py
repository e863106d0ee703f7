"""Pillow on the real library: a file is not decoded by a look, a closed one raises nothing."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


@pytest.fixture
def path(pillow: Any, tmp_path: Path) -> Path:
    pillow.new("RGB", (40, 30)).save(tmp_path / "a.png")
    return tmp_path / "a.png"


def test_opened_loaded_closed(pillow: Any, look: Look, path: Path) -> None:
    with pillow.open(path) as x:
        told = look(x)
        assert (told.state, told.waits_for, told.logical_bytes) == ("lazy", "load()", 4800)
        assert x.tile, "a look does not decode"
        assert hasattr(x, "__array_interface__") and not x.tile, "hasattr does"
        told = look(x)
        assert (told.state, told.waits_for) == ("owned", "")
        assert np.asarray(x).flags.writeable is False
    x.close()
    assert look(x).state in ("closed", "owned"), "Pillow 10.4 lets a loaded image be read after close()"


def test_closed_before_it_was_loaded(pillow: Any, look: Look, path: Path) -> None:
    x = pillow.open(path)
    x.close()
    assert look(x).state == "closed"
    with pytest.raises(ValueError, match="closed"):
        x.getpixel((0, 0))


def test_made_in_memory(pillow: Any, look: Look) -> None:
    assert look(pillow.new("L", (4, 3))).logical_bytes == 12
    assert look(pillow.new("L", (0, 0))).logical_bytes == 0
    assert isinstance(look(pillow.Image()).state, Unknown)
    (said, *_) = inspector.inspect(pillow.new("RGB", (1000, 1000)), name="x").answers.rows
    assert said.text == "Has 4.0 MB in C."


def test_over_a_buffer_the_first_write_copies(pillow: Any, look: Look) -> None:
    source = bytearray(12)
    x = pillow.frombuffer("L", (4, 3), source, "raw", "L", 0, 1)
    told = look(x)
    assert told.state == "copy-on-write pending"
    assert [found.slug for found in told.findings] == ["shared-copy-on-write"]
    source[0] = 9
    assert x.getpixel((0, 0)) == 9
    x.putpixel((1, 0), 7)
    assert source[1] == 0 and look(x).state == "owned"


def test_a_subclass_is_not_asked(pillow: Any, look: Look) -> None:
    class Lying(pillow.Image):  # type: ignore[misc, name-defined]
        @property
        def tile(self) -> Any:
            raise AssertionError("asked")

        im = _im = size = mode = readonly = _readonly = tile

    inspector.materialization(Lying.__new__(Lying))
