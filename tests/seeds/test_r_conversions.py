"""The table of reticulate's conversions is what a run of each row gives."""

# SPDX-License-Identifier: MIT
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.r, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_each_row_gives() -> None:
    done = subprocess.run(
        [sys.executable, "-P", str(ROOT / ".ci" / "r_conversions.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n.venv-R/bin/python -P .ci/r_conversions.py"


def test_rows_whose_losses_are_known() -> None:
    """By R's and NumPy's own words: 2^53 + 1 is no double, 2^31 no integer, NA no bool; zones and names."""
    page = (ROOT / "docs" / "reference" / "r_conversions.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    lost = {name for name, line in rows.items() if line.split(" | ")[-1].strip(" |")}
    assert {"NA", "c(1L, NA)", "c(a = 1, b = 2)", "list(a = 1, a = 2)", "2**31", "2**53 + 1"} <= lost
    assert {"np.array([2**53 + 1])", 'as.POSIXct("2020-01-01", tz = "UTC")'} <= lost
    assert "the same bytes" in rows["matrix(c(1, 2, 3, 4), 2)"]
    assert not lost & {"TRUE", "c(1, NA)", "1:3", "[1, 2]", 'np.array([1.5], "f4")', "matrix(1:4, 2)"}
