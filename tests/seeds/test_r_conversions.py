"""The table of reticulate's conversions is what a run of each row gives."""

# SPDX-License-Identifier: MIT
import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.tracing.record.host_lines import of_block

pytestmark = [pytest.mark.r, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_each_row_gives() -> None:
    done = subprocess.run(
        [sys.executable, "-P", str(ROOT / ".ci" / "r_conversions.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n.venv-R/bin/python -P .ci/r_conversions.py"


def test_a_conversion_whose_line_R_could_not_say_is_told(tmp_path: Path) -> None:
    """The trace ended with an error of its own: the texts are empty where R's function failed."""
    side = {"kind": "integer", "length": 1, "bytes": 4, "items": ""}
    row = {"to_python": True, "name": "", "given": side, "how": "single", "became": side, "changes": []}
    path = tmp_path / "conversions-1.jsonl"
    path.write_text(json.dumps(row | {"compared": True, "texts": []}) + "\n[0, 9, 1]\n")
    (line,) = of_block(path, "3.11").lines
    assert (line.statement.line, line.conversions[0].times) == (0, 1)


def test_rows_whose_losses_are_known() -> None:
    """By R's and NumPy's own words: 2^53 + 1 is no double, 2^31 no integer, NA no bool; zones and names."""
    page = (ROOT / "docs" / "reference" / "r_conversions.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    lost = {name for name, line in rows.items() if line.split(" | ")[-1].strip(" |")}
    assert {"NA", "c(1L, NA)", "c(a = 1, b = 2)", "list(a = 1, a = 2)", "2**31", "2**53 + 1"} <= lost
    assert {"np.array([2**53 + 1])", 'as.POSIXct("2020-01-01", tz = "UTC")'} <= lost
    assert {'np.array([2**53 + 1], ">i8")', 'pd.DataFrame({"a": [1, 2]}, index=["r", "r"])'} <= lost
    assert {'factor(c("a", "b"))', 'structure(1:3, class = "u")'} <= lost and "I(1:3)" not in lost
    assert "the same bytes" in rows["matrix(c(1, 2, 3, 4), 2)"]
    assert not lost & {"TRUE", "c(1, NA)", "1:3", "[1, 2]", 'np.array([1.5], "f4")', "matrix(1:4, 2)"}
