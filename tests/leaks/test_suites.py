"""Tests of NumPy's and of pandas' own, with and without the ledger: the same outcomes, and nobody accused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import soak
import suite_run

pytestmark = pytest.mark.newest
SHORT = {
    "numpy": ("lib.tests.test_twodim_base", "lib.tests.test_index_tricks", "_core.tests.test_item_selection"),
    "pandas": ("tests.series.methods.test_astype", "tests.frame.methods.test_sort_values"),
}
LONG = {
    "numpy": (
        *SHORT["numpy"],
        "_core.tests.test_indexing",
        "_core.tests.test_einsum",
        "_core.tests.test_records",
        "_core.tests.test_nditer",
        "_core.tests.test_ufunc",
        "_core.tests.test_regression",
        "_core.tests.test_dtype",
        "lib.tests.test_function_base",
    ),
    "pandas": (
        *SHORT["pandas"],
        "tests.groupby.test_apply",
        "tests.indexing.test_loc",
        "tests.reshape.merge.test_merge_asof",
        "tests.reshape.test_pivot",
        "tests.frame.methods.test_fillna",
    ),
}


@pytest.mark.parametrize("library", SHORT)
def test_a_suite_ends_as_without_the_ledger(library: str, tmp_path: Path) -> None:
    modules = [f"{library}.{name}" for name in (LONG if soak.SOAK else SHORT)[library]]
    command = [sys.executable, "-P", suite_run.__file__, "leaks", library, *modules]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=1700, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["tests"] > 100 and told["other"] == {} and told["accused"] == []
