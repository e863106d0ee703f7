"""Numbers that become texts, texts that become numbers, and times that become objects of Python."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import numpy as np
import one_line
import pytest

BIG = 2**53 + 1
NS = "2020-01-01T00:00:00.123456789"
US = "2020-01-01T00:00:00.123456"
SETUP = """
x = np.array([1.5, 1.23456789]); few = np.array([1.5, 2.25]); lines = ['16777217', '3']
"""
WRITTEN = {
    "np.savetxt(p, x, fmt='%.3f')": ("precision", "1.23456789", "1.235"),
    "np.savetxt(p, x[::-1], fmt='%d')": ("fraction", "1.23456789", "1"),
    "x.tofile(p, sep=' ', format='%.2f')": ("precision", "1.23456789", "1.23"),
    "np.savetxt(p, x)": None,
    "np.savetxt(p, few, fmt='%.2f')": None,
    "np.savetxt(io.StringIO(), x, fmt='%.3f')": None,  # no text is seen
    "a = np.loadtxt(lines, dtype='f4')": ("precision", "16777217", "16777216.0"),
    f"a = np.loadtxt(['{BIG}', '3'])": ("precision", str(BIG), repr(float(BIG))),
    f"a = np.fromstring('{BIG} 3', sep=' ')": ("precision", str(BIG), repr(float(BIG))),
    "a = np.loadtxt(['0.1', '3'], dtype='f4')": None,
    f"a = np.loadtxt(['{BIG}', '3'], dtype=int)": None,
    f"a = np.loadtxt(['{BIG} 1', '3 4'], usecols=1)": None,
}
TABLES = """
frame = pd.DataFrame({'x': [1.5, 1.23456789], 's': ['1', 'x']}); few = pd.DataFrame({'x': [1.5, 2.25]})
texts = frame['s']; fine = pd.Series(['1', ' 2.5', '1e5', '0x1F', 'inf', '', None])
t = pd.Series(np.array([NS, US], 'M8[ns]')); index = pd.DatetimeIndex(t); us = t.astype('M8[us]')
pt = pl.Series('t', t.to_numpy()); pf = pl.DataFrame({'x': [1.5, 300.25]})
"""
OF_TABLES = {
    "frame.to_csv(p, float_format='%.2f')": ("precision", "1.23456789", "1.23"),
    "c = frame.to_csv(float_format='%.2f')": ("precision", "1.23456789", "1.23"),
    "c = pf.write_csv(float_precision=1)": ("precision", "300.25", "300.2"),
    "frame.to_csv(p)": None,
    "c = few.to_csv(float_format='%.2f')": None,
    "d = pd.read_csv(ids)": ("precision", str(BIG), repr(float(BIG))),
    "d = pd.read_csv(whole)": None,
    "c = pd.to_numeric(['1', 'x'], errors='coerce')": ("null", "'x'", "NaN"),
    "frame['n'] = pd.to_numeric(frame['s'], errors='coerce')": ("null", "'x'", "NaN"),
    "c = pd.to_numeric(texts.str.strip(), errors='coerce').fillna(0)": ("null", "'x'", "NaN"),
    "c = frame.assign(n=pd.to_numeric(frame.s, errors='coerce'))": ("null", "'x'", "NaN"),
    "c = pd.to_numeric(fine, errors='coerce').sum()": None,
    "c = [pd.to_numeric(texts, errors='coerce') for _ in ()]": None,
    "c = t.dt.to_pydatetime()": ("fraction", NS, US),
    "c = index.to_pydatetime()": ("fraction", NS, US),
    "c = pt.to_list()": ("fraction", NS, US),
    "c = t.to_list()": None,  # Timestamps have nanoseconds
    "c = us.dt.to_pydatetime()": None,
}  # fmt: skip


def lost(setup: str, line: str, names: dict[str, Any]) -> tuple[str, str, str] | None:
    t = one_line.traced(setup, line, {"np": np, **names})
    found = [one for row in t.statements.rows for one in row.losses]
    first = str(t).splitlines()[0]
    assert ("changed in line" in first) is any(not one.is_asked_for for one in found), first
    return next(((one.rule, one.before, one.after) for one in found), None)


@pytest.mark.core
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("line", WRITTEN)
def test_of_numpy(line: str, tmp_path: Path) -> None:
    import io

    assert lost(SETUP, line, {"p": str(tmp_path / "x.txt"), "io": io}) == WRITTEN[line]


@pytest.mark.libraries
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("line", OF_TABLES)
def test_of_tables(line: str, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas", reason="cannot be installed")
    pl = pytest.importorskip("polars", reason="cannot be installed")
    paths = {name: tmp_path / f"{name}.csv" for name in ("ids", "whole", "p")}
    paths["ids"].write_text(f"id,x\n{BIG},0.1\n,0.25\n")
    paths["whole"].write_text(f"id,x\n{BIG},0.1\n7,0.25\n")
    assert lost(TABLES, line, {"pd": pd, "pl": pl, "NS": NS, "US": US, **paths}) == OF_TABLES[line]
