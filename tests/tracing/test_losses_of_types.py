"""Losses by what the elements mean: units of time, one number for all, nulls, floats in packed bytes.

Each is counted again here by plain Python.
"""

# SPDX-License-Identifier: MIT
import array
import math
import struct
from typing import Any

import numpy as np
import one_line
import pytest

from inspector.facts.conversion import Loss
from inspector.sessions.statements.frames import raised_by_user

core = pytest.mark.core
libraries = pytest.mark.libraries


def ran(setup: str, line: str, **names: Any) -> tuple[Any, dict[str, Any]]:
    """(the trace of one statement, as a program of a user's has it, the names after it)."""
    space: dict[str, Any] = {"np": np, **names}
    return one_line.traced(setup, line, space), space


def told(setup: str, line: str, **names: Any) -> tuple[Loss, dict[str, Any]]:
    """The only loss of a statement, which its row has too."""
    t, space = ran(setup, line, **names)
    (loss,) = t.losses
    assert [row.losses for row in t.statements.rows if row.losses] == [(loss,)]
    return loss, space


@core
@pytest.mark.parametrize(
    ("unit", "ratio"), [("us", 10**3), ("s", 10**9), ("h", 3600 * 10**9), ("D", 86400 * 10**9)]
)
def test_a_coarser_unit_of_time_cuts(unit: str, ratio: int) -> None:
    counts = [1_704_067_200_123_456_789, -1, 0, 86400 * 10**9, -(10**9)]
    loss, space = told(f"x = np.array({counts}, 'M8[ns]')", f"r = x.astype('M8[{unit}]')")
    lost = [at for at, count in enumerate(counts) if count % ratio]
    assert (loss.rule, loss.lost, loss.first, loss.elements) == ("fraction", len(lost), lost[0], len(counts))
    assert (loss.before, loss.after) == (str(space["x"][lost[0]]), str(space["r"][lost[0]]))


@core
def test_a_finer_unit_that_has_no_room_and_durations() -> None:
    if np.lib.NumpyVersion(np.__version__) >= "2.5.0":  # it refuses what it wrapped before
        with pytest.raises(OverflowError):
            np.array([9_300_000_000_000], "m8[s]").astype("m8[ns]")
    else:
        loss, space = told("x = np.array([9_300_000_000_000, 5], 'm8[s]')", "r = x.astype('m8[ns]')")
        assert (loss.rule, loss.lost, loss.before) == ("overflow", 1, "9300000000000 s")
        assert space["r"].view("i8").tolist() != [9_300_000_000_000 * 10**9, 5 * 10**9]
    loss, _ = told("x = np.array([1500, 2000, -1], 'm8[ms]')", "r = x.astype('m8[s]')")
    assert (loss.lost, loss.before, loss.after) == (2, "1500 ms", "1 s")


@core
@pytest.mark.parametrize(
    "line",
    [
        "r = x.astype('M8[s]')",
        "r = x.astype('M8[ms]').astype('M8[ns]')",
        "r = x.astype('i8')",
        "r = x - x[0]",
    ],
)
def test_a_unit_that_keeps_every_date_is_no_loss(line: str) -> None:
    t, _ = ran("x = np.array(['2024-01-01', '1969-12-31', 'NaT'], 'M8[ns]')", line)
    assert t.losses == ()


@core
@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("r = np.full(3, 1.5, dtype=int)", "1.5", "1"),
        ("r = np.full_like(x, 2.5)", "2.5", "2"),
        ("r = np.full(5, 300.0, 'u1')", "300.0", "44"),
        ("x.fill(-1.5)", "-1.5", "-1"),
        ("np.copyto(x, 1e30, casting='unsafe')", "1e+30", str(-(2**63))),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_one_number_for_all_elements(line: str, before: str, after: str) -> None:
    loss, space = told("x = np.zeros(4, int)", line)
    made = space.get("r", space["x"])
    assert (loss.before, loss.after) == (before, after) and (loss.lost, loss.elements) == (made.size,) * 2
    assert [int(after)] * made.size == made.tolist()


@core
@pytest.mark.parametrize(
    "line", ["r = np.full(3, 2.0, dtype=int)", "r = np.ones(3, int) * 2", "r = np.zeros(4, int) + 0"]
)
def test_a_number_that_fits_or_a_computation_is_no_loss(line: str) -> None:
    t, _ = ran("", line)
    assert t.losses == ()


@core
@pytest.mark.parametrize(
    "line",
    [
        "r = struct.pack('3f', 0.1, 0.5, v)",
        "r = struct.pack('<2e', -0.1, v)",
        "struct.pack_into('3f', b, 4, *vs)",
        "r = len(struct.pack('f', v))",
    ],
)
def test_floats_that_struct_rounds(line: str) -> None:
    numbers = {"3f', 0": [0.1, 0.5, 1 / 3], "<2e": [-0.1, 1 / 3], "3f', b": [0.1, 0.5, 0.7], "'f'": [1 / 3]}
    given = next(found for word, found in numbers.items() if word in line)
    letter = "e" if "2e" in line else "f"
    kept = [struct.unpack(letter, struct.pack(letter, one))[0] for one in given]
    lost = [at for at, (was, now) in enumerate(zip(given, kept, strict=True)) if was != now]
    loss, _ = told("import struct; b = bytearray(16)", line, v=1 / 3, vs=[0.1, 0.5, 0.7])
    assert (loss.rule, loss.lost, loss.first, loss.elements) == ("precision", len(lost), lost[0], len(given))
    assert (loss.before, loss.after) == (repr(given[lost[0]]), repr(kept[lost[0]]))
    worst = max(abs(kept[at] - given[at]) / abs(given[at]) for at in lost)
    assert math.isclose(loss.largest_error, worst, rel_tol=1e-6) and loss.is_asked_for


@core
@pytest.mark.parametrize(
    "line",
    ["r = struct.pack('d', v)", "r = struct.pack('f', 0.5)", "r = struct.pack('if', 3, v)", "r = v.pack"],
)
def test_what_struct_keeps_or_a_format_not_read_is_no_loss(line: str) -> None:
    t, _ = ran("import struct", line, v=type("V", (), {"pack": 1}) if "v.pack" in line else 1 / 3)
    assert t.losses == ()


@core
@pytest.mark.parametrize(
    ("line", "kind"),
    [("r = x.astype('float32')", "f4"), ("r = x.astype(np.float16)", "f2"), ("r = a('f', x)", "f4")],
)
def test_rounding_that_the_user_wrote_is_told_by_its_largest_error(line: str, kind: str) -> None:
    t, space = ran("x = np.array([0.1, 0.5, 1/3, 1e-3])", line.replace("a(", "array.array("), array=array)
    (loss,) = t.losses
    before, after = space["x"].tolist(), np.asarray(space["r"]).astype(float).tolist()
    worst = max(abs(now - was) / was for was, now in zip(before, after, strict=True))
    assert math.isclose(loss.largest_error, worst, rel_tol=1e-5) and loss.is_asked_for
    shown = " ".join(t.tree().split())
    assert f"rounded, by at most {worst:.2g} of the value" in shown and "values changed" not in shown


def test_pandas_units_and_coerced_texts() -> None:
    dates = "import pandas as pd; x = pd.Series(['2024-01-01T00:00:00.5', '2024-01-02']).astype('M8[ns]')"
    for line in ("r = x.astype('M8[s]')", "r = x.dt.as_unit('s')", "r = pd.DatetimeIndex(x).as_unit('s')"):
        loss, _ = told(dates, line)
        assert (loss.rule, loss.lost, loss.after) == ("fraction", 1, "2024-01-01T00:00:00")
    t, _ = ran(dates, "r = x.dt.floor('s')")  # asked for: it is no conversion
    assert t.losses == ()
    texts = "import pandas as pd; x = pd.Series(['1', 'x', '3', None]); d = pd.DataFrame({'a': x})"
    loss, _ = told(texts, "r = pd.to_numeric(x, errors='coerce')")
    assert (loss.rule, loss.before, loss.after, loss.first, loss.lost) == ("null", "'x'", "NaN", 1, 1)
    loss, space = told(texts, "d['a'] = pd.to_numeric(d['a'], errors='coerce')")
    assert (loss.rule, loss.lost, loss.elements) == ("null", 1, 4) and space["d"]["a"].isna().sum() == 2
    t, _ = ran(texts, "r = pd.to_numeric(x.shift(1), errors='coerce')")  # a shift makes nulls as well
    assert t.losses == ()


def test_arrow_units() -> None:
    loss, _ = told(
        "import pyarrow as pa; x = pa.array([1_500_000_000, 2_000_000_000], pa.timestamp('ns'))",
        "r = x.cast(pa.timestamp('s'), safe=False)",
    )
    assert (loss.rule, loss.lost, loss.after) == ("fraction", 1, "1970-01-01T00:00:01")


@libraries
@pytest.mark.parametrize(
    ("line", "rule", "before", "after", "lost"),
    [
        ("r = s.cast(pl.Int8, strict=False)", "null", "300.0", "null", 1),
        ("r = t.cast(pl.Int64, strict=False)", "null", "'x'", "null", 1),
        ("r = d.with_columns(pl.col('b').cast(pl.Int64, strict=False))", "null", "'x'", "null", 1),
        (
            "r = d.lazy().with_columns(pl.col('b').cast(pl.Int64, strict=False)).collect()",
            "null",
            "'x'",
            "null",
            1,
        ),
        ("r = d.select(pl.col('a').cast(pl.Int64))", "fraction", "1.5", "1", 2),
        ("r = d.cast({'c': pl.Float32})", "precision", "0.1", "0.10000000149011612", 1),
        (
            "r = m.cast(pl.Datetime('ms'))",
            "fraction",
            "1970-01-01T00:00:01.500000001",
            "1970-01-01T00:00:01.500",
            1,
        ),
    ],
)
def test_polars(line: str, rule: str, before: str, after: str, lost: int) -> None:
    setup = (
        "import polars as pl; s = pl.Series('s', [2.0, 300.0, None]); t = pl.Series(['1', 'x', '3'])\n"
        "d = pl.DataFrame({'a': [1.5, 2.5], 'b': ['1', 'x'], 'c': [0.1, 0.5]})\n"
        "m = pl.Series([1_500_000_001, 0], dtype=pl.Datetime('ns'))"
    )
    loss, _ = told(setup, line)
    assert (loss.rule, loss.before, loss.after, loss.lost) == (rule, before, after, lost)


@libraries
def test_polars_truncates_dates_where_it_is_asked_to() -> None:
    setup = "import polars as pl; m = pl.Series([1_500_000_001], dtype=pl.Datetime('ns'))"
    t, _ = ran(setup, "r = m.dt.truncate('1s')")
    assert t.losses == ()


@libraries
def test_torch_fills_with_a_number_cut() -> None:
    loss, _ = told("import torch", "r = torch.full((3,), 1.5, dtype=torch.int)")
    assert (loss.before, loss.after, loss.lost) == ("1.5", "1", 3)


DECIMALS = (
    "import decimal\nimport pandas as pd\nimport polars as pl\nimport pyarrow as pa\n"
    "d = [decimal.Decimal(one) for one in ('0.1', '12345678901234567890.123456789', '3')]\n"
)
TIMES = (
    "import numpy as np\nimport polars as pl\n"
    "t = np.array([1_700_000_000_123_456_789, 0, -1, 1_700_000_000_000_000_000], 'M8[ns]')\n"
    "s = pl.Series('t', t)\nf = pl.DataFrame({'t': t})\n"
)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        pytest.param("x = pd.Series(d)", "r = x.astype(float)", marks=libraries),
        pytest.param("x = pd.DataFrame({'p': d, 'q': 1})", "r = x.astype({'p': 'f8'})", marks=libraries),
        pytest.param("x = pd.Series(d)", "r = pd.to_numeric(x)", marks=libraries),
        pytest.param("x = pa.array(d)", "r = x.cast(pa.float64())", marks=libraries),
        # polars 1.0 takes no decimals of several scales, and gives theirs no precision
        pytest.param("x = pl.Series(d)", "r = x.cast(pl.Float64)", marks=pytest.mark.newest),
        pytest.param("x = np.zeros(3)", "r = np.array(d, dtype=float)", marks=libraries),
    ],
)
def test_decimals_that_became_floats_have_lost_digits(more: str, line: str) -> None:
    loss, space = told(DECIMALS + more, line)
    assert (loss.rule, loss.lost) == ("precision", 1)
    assert (loss.before, loss.after) == (str(space["d"][1]), repr(float(space["d"][1])))


@libraries
@pytest.mark.parametrize(
    "line",
    [
        "r = pd.Series(d[::2]).astype(float)",
        "r = pd.Series(d[::2]).astype(int)",
        "r = np.array(d[::2], dtype=float)",
        "r = pd.Series(d).astype(str)",
        "r = pd.Series(d) * 2",
        "r = np.array([d[0], 1], dtype=float)",
        "r = np.array([decimal.Decimal('NaN'), d[0]], dtype=float)",
    ],
)
def test_decimals_that_keep_their_digits_are_no_loss(line: str) -> None:
    assert ran(DECIMALS, line)[0].losses == ()


@libraries
@pytest.mark.parametrize(
    ("line", "lost", "after"),
    [
        ("r = s.cast(pl.Date)", 3, "2023-11-14"),
        ("r = s.cast(pl.Datetime('ms'))", 2, "2023-11-14T22:13:20.123"),
        ("r = s.dt.cast_time_unit('us')", 2, "2023-11-14T22:13:20.123456"),
        ("r = f.with_columns(pl.col('t').cast(pl.Date))", 3, "2023-11-14"),
    ],
)
def test_times_of_polars_that_were_cut(line: str, lost: int, after: str) -> None:
    loss, _ = told(TIMES, line)
    assert (loss.rule, loss.lost, loss.after) == ("fraction", lost, after)
    assert loss.before == "2023-11-14T22:13:20.123456789"


@libraries
def test_an_error_of_a_librarys_compiled_code_is_no_users() -> None:
    """Cython names its frames by a path that no package has: the tool's own question ended the program."""
    import pyarrow as pa

    with pytest.raises(TypeError) as raised:
        pa.array([1]).take(range(1))
    error = raised.value
    assert error.__traceback__ is not None and raised_by_user(error)  # this line
    assert not raised_by_user(error.with_traceback(error.__traceback__.tb_next))
