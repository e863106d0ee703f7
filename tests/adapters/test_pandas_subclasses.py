"""A subclass of a frame is a table too; what arrays of other libraries keep is not told as nothing."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest

import inspector

pytestmark = pytest.mark.libraries
pd = pytest.importorskip("pandas")


class Places(pd.DataFrame):  # type: ignore[misc, name-defined]
    asked = 0

    def __getattr__(self, name: str) -> Any:
        type(self).asked += 1
        return super().__getattr__(name)


class Elsewhere(pd.DataFrame):  # type: ignore[misc, name-defined]
    @property
    def _mgr(self) -> Any:
        raise AssertionError("a look ran this")


class ShapeType(pd.api.extensions.ExtensionDtype):  # type: ignore[misc, name-defined]
    name, type = "shape", object


class Shapes(pd.api.extensions.ExtensionArray):  # type: ignore[misc, name-defined]
    """An array of another library, as geopandas has one; `len` is all that pandas asks here."""

    dtype = ShapeType()

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def __len__(self) -> int:
        return len(self.kept)

    def copy(self) -> Any:
        return Shapes(self.kept)

    def view(self, dtype: Any = None) -> Any:
        return Shapes(self.kept)


def first(x: Any, name: str = "x") -> str:
    return str(inspector.inspect(x, name=name).answers.rows[0].text)


def test_a_subclass_of_a_frame_is_a_table_whose_code_is_not_asked() -> None:
    frame = Places({"a": np.arange(1000.0), "b": np.arange(1000)})
    Places.asked = 0
    report = inspector.inspect(frame, name="frame")
    assert report.answers.rows[0].text == "1,000 rows × 2 columns, 16 kB."
    assert report.buffer.logical_bytes == 16_000 and not Places.asked
    column = frame["a"]
    assert 'column shares the memory of frame["a"].' in str(inspector.compare(column, frame))


def test_a_subclass_with_a_manager_of_its_own_is_not_a_table_of_no_columns() -> None:
    report = inspector.inspect(object.__new__(Elsewhere), name="x")
    assert report.parts is None or not report.answers.rows
    assert "keeps no blocks of pandas" in report.materialization.state.reason


def test_bytes_of_an_array_of_another_library_are_not_known() -> None:
    shapes = Shapes([object()] * 3)
    frame = pd.DataFrame({"v": [1.0, 2.0, 3.0], "s": shapes})
    assert first(frame) == "3 rows × 2 columns, 24 B, without `s`, whose bytes are not known."
    assert first(frame["s"]) == "Its values are a `Shapes`; where that keeps them is not known."


def test_what_lies_behind_an_array_of_objects_counts_as_opaque() -> None:
    etree = pytest.importorskip("lxml.etree")
    element = etree.fromstring("<a/>")
    array = np.full(1, None, dtype=object)
    array[0] = element
    for held in ([element], [array], [pd.Series(array)]):
        assert "_Element" in inspector.inspect(held).contents.opaque
    assert not inspector.inspect([pd.DataFrame({"a": [1.0]})]).contents.opaque
