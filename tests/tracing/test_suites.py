"""Tests of NumPy's and of pandas' own, untraced and then traced: the same outcomes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import soak
import suite_run

pytestmark = pytest.mark.newest
SHORT = {
    "numpy": (
        "_core.tests.test_array_coercion",
        "_core.tests.test_indexing",
        "_core.tests.test_records",
        "linalg.tests.test_linalg",
    ),
    "pandas": ("tests.groupby.test_groupby", "tests.frame.methods.test_fillna"),
}
LONG = {
    "numpy": (
        *SHORT["numpy"],
        "_core.tests.test_einsum",
        "_core.tests.test_nditer",
        "_core.tests.test_ufunc",
        "_core.tests.test_umath",
        "_core.tests.test_numeric",
        "_core.tests.test_regression",
        "_core.tests.test_dtype",
        "_core.tests.test_shape_base",
        "_core.tests.test_multiarray",
        "lib.tests.test_function_base",
        "ma.tests.test_core",
        "random.tests.test_generator_mt19937",
    ),
    "pandas": (
        *SHORT["pandas"],
        "tests.arrays.integer",
        "tests.frame.test_constructors",
        "tests.groupby.test_apply",
        "tests.indexing.test_loc",
        "tests.io.parser.test_header",
        "tests.resample.test_datetime_index",
        "tests.reshape.merge.test_merge_asof",
        "tests.reshape.test_pivot",
        "tests.series.test_constructors",
    ),
}


@pytest.mark.timeout(1800 if soak.SOAK else 240)
@pytest.mark.parametrize("library", SHORT)
def test_a_suite_ends_as_untraced(library: str, tmp_path: Path) -> None:
    """Grade deep: every call of the C API is read, arguments and results; what is read is the last of it."""
    modules = [f"{library}.{name}" for name in (LONG if soak.SOAK else SHORT)[library]]
    command = [sys.executable, "-P", suite_run.__file__, "deep", library, *modules]
    small = {**os.environ, "NPY_AVAILABLE_MEM": "1 GB"}  # NumPy's tests of huge arrays are skipped
    ran = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=1700, check=False, env=small
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["tests"] > 300 and told["other"] == {}
    assert told["events"] > 1_000_000 and told["calls"] > 0
