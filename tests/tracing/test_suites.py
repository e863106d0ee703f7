"""Tests of NumPy's and of pandas' own, plain and then watched: the same outcomes, and nobody is accused."""

# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import soak
import suite_run

pytestmark = [pytest.mark.newest, pytest.mark.timeout(1800 if soak.SOAK else 240)]
SHORT = {
    ("leaks", "numpy"): """lib.tests.test_twodim_base lib.tests.test_index_tricks
        _core.tests.test_item_selection""",
    ("leaks", "pandas"): "tests.series.methods.test_astype tests.frame.methods.test_sort_values",
    ("deep", "numpy"): """_core.tests.test_array_coercion _core.tests.test_indexing _core.tests.test_records
        linalg.tests.test_linalg""",
    ("deep", "pandas"): "tests.groupby.test_groupby tests.frame.methods.test_fillna",
}
LONGER = {
    ("leaks", "numpy"): """_core.tests.test_indexing _core.tests.test_einsum _core.tests.test_records
        _core.tests.test_nditer _core.tests.test_ufunc _core.tests.test_regression _core.tests.test_dtype
        lib.tests.test_function_base""",
    ("leaks", "pandas"): """tests.groupby.test_apply tests.indexing.test_loc
        tests.reshape.merge.test_merge_asof tests.reshape.test_pivot tests.frame.methods.test_fillna""",
    ("deep", "numpy"): """_core.tests.test_einsum _core.tests.test_nditer _core.tests.test_ufunc
        _core.tests.test_umath _core.tests.test_numeric _core.tests.test_regression _core.tests.test_dtype
        _core.tests.test_shape_base _core.tests.test_multiarray lib.tests.test_function_base
        ma.tests.test_core random.tests.test_generator_mt19937""",
    ("deep", "pandas"): """tests.arrays.integer tests.frame.test_constructors tests.groupby.test_apply
        tests.indexing.test_loc tests.io.parser.test_header tests.resample.test_datetime_index
        tests.reshape.merge.test_merge_asof tests.reshape.test_pivot tests.series.test_constructors""",
}
"""Beside the short ones, in a soak."""


def watched(watcher: str, library: str, folder: Path) -> Any:
    """What suite_run.py says of these modules' tests. NumPy's tests of huge arrays are skipped."""
    asked = SHORT[watcher, library] + (f" {LONGER[watcher, library]}" if soak.SOAK else "")
    modules = [f"{library}.{name}" for name in asked.split()]
    command = [sys.executable, "-P", suite_run.__file__, watcher, library, *modules]
    small = {**os.environ, "NPY_AVAILABLE_MEM": "1 GB"}
    given = {"capture_output": True, "text": True, "cwd": folder, "env": small}
    ran = subprocess.run(command, timeout=1700, check=False, **given)  # type: ignore[call-overload]
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("library", ["numpy", "pandas"])
def test_a_suite_ends_as_without_the_ledger(library: str, tmp_path: Path) -> None:
    told = watched("leaks", library, tmp_path)
    assert told["tests"] > 100 and told["other"] == {} and told["accused"] == []


@pytest.mark.parametrize("library", ["numpy", "pandas"])
def test_a_suite_ends_as_untraced(library: str, tmp_path: Path) -> None:
    """Grade deep: every call of the C API is read, arguments and results; what is read is the last of it."""
    told = watched("deep", library, tmp_path)
    assert told["tests"] > 300 and told["other"] == {}
    assert told["events"] > 1_000_000 and told["calls"] > 0
