"""polars on the real library: views where polars gives one, chunks, nulls, lazy frames that stay lazy."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


def test_a_series_over_numpy_lies_where_the_array_does(pl: Any, look: Look) -> None:
    n = np.arange(1000.0)
    x = pl.Series("n", n)
    told = look(x)
    assert told.layers[1].spans[0].start == n.__array_interface__["data"][0]
    assert told.logical_bytes == 8000 and isinstance(told.state, Unknown)
    assert inspector.shares(x, n).overlap is True
    assert look(x[1:]).layers[1].spans[0].start == told.layers[1].spans[0].start + 8
    assert look(x.clone()).layers[1].spans == told.layers[1].spans


def test_nulls_and_chunks_are_told_before_values(pl: Any, look: Look) -> None:
    with_nulls = look(pl.Series([1, None, 3])).layers[1]
    assert "1" in [said.says for said in with_nulls.evidence if said.place == "null_count()"]
    assert with_nulls.would == ("to_numpy()",)
    whole = pl.Series("v", [1.0, 2.0])
    chunked = pl.concat([whole, whole], rechunk=False)
    told = look(chunked).layers[1]
    assert told.what == "v float64, 2 chunks" and len(told.spans) == 2
    assert chunked.n_chunks() == 2, "a look does not rechunk"


def test_what_polars_gives_no_address_of(pl: Any, look: Look) -> None:
    for values in (["a", None], [True, False], [[1], []]):
        layer = look(pl.Series("s", values)).layers[1]
        assert layer.spans == () and layer.would == ("to_numpy()",)


def test_a_lazy_frame_opens_nothing(pl: Any, look: Look, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    lazy = pl.scan_csv(path).filter(pl.col("a") > 0)
    path.unlink()
    told = look(lazy)
    assert (told.state, told.waits_for) == ("lazy", "collect()")
    with pytest.raises(Exception, match="No such file"):
        lazy.collect()


def test_a_frame_and_a_wide_one(pl: Any, look: Look) -> None:
    told = look(pl.DataFrame({"a": [1.0], "b": ["x"]}))
    assert [layer.what for layer in told.layers[:3]] == ["DataFrame (1, 2)", "a float64", "b String"]
    wide = pl.DataFrame({str(n): [1.0] for n in range(20_000)})
    told = look(wide)
    assert told.layers_left_out > 19_900 and isinstance(told.logical_bytes, Unknown)
    assert look(pl.DataFrame()).logical_bytes == 0


def test_a_mapped_file(pl: Any, look: Look, tmp_path: Path) -> None:
    pl.DataFrame({"a": np.ones(100_000)}).write_ipc(tmp_path / "a.arrow", compression="uncompressed")
    mapped = pl.scan_ipc(tmp_path / "a.arrow").collect()
    layer = look(mapped["a"]).layers[1]
    mapping = _native.mapping_at(layer.spans[0].start)
    assert mapping is not None
    assert (layer.storage == "file-mapped") == any("a.arrow" in str(word) for word in mapping)


def test_a_subclass_is_not_believed(pl: Any, look: Look) -> None:
    class Series(pl.Series):  # type: ignore[misc]
        @property
        def _s(self) -> Any:
            raise AssertionError("asked")

    assert isinstance(inspector.materialization(Series.__new__(Series)).state, Unknown)


def test_texts_dates_and_lists_of_a_frame_are_compared_by_their_buffers(pl: Any) -> None:
    frame = pl.DataFrame({"n": [1, 2], "s": ["a", "b" * 20], "l": [[1], [2, 3]]})
    frame = frame.with_columns(d=pl.col("n").cast(pl.Date))
    said = inspector.compare(frame.with_columns(n=pl.col("n") + 1), frame, names=("a", "b")).answers[0].text
    lays_open = hasattr(frame["s"]._s, "__arrow_c_stream__")  # since polars 1.3
    told = "Columns `s`, `l` and `d` share, `n` does not." if lays_open else "Two DataFrame objects with"
    assert said.startswith(told)


def test_an_array_over_a_column_names_it(pl: Any) -> None:
    frame = pl.DataFrame({"n": range(100)})
    x = frame["n"].to_numpy()
    report = inspector.inspect(x, name="x")
    assert report.answers.rows[0].text == "A view of `frame['n']`: all 800 B."
