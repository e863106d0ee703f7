"""The faults of faults.toml can be planted: each text is there once, and a quick test is named."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest
import sources

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults", sources.ROOT / ".ci" / "faults.py")
    made = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(made)  # type: ignore[union-attr]
    return made


def test_each_fault_has_one_place_and_changes_it(faults: ModuleType) -> None:
    rows = faults.listed()
    assert len(rows) >= 20 and len({row["room"] for row in rows}) == len(rows)
    for row in rows:
        assert faults.place(row).is_file() and row["right"] != row["wrong"] and row["seen"]


def test_each_fault_names_a_quick_test(faults: ModuleType) -> None:
    for row in faults.listed():
        file, _, test = row["found"].partition("::")
        text = (sources.ROOT / file).read_text()
        assert "pytest.mark.quick" in text and re.search(rf"^def {test}\(", text, re.MULTILINE), row["found"]


def test_a_text_that_is_gone_is_said(faults: ModuleType) -> None:
    with pytest.raises(ValueError, match="stands at 0 places"):
        faults.place({"room": "nowhere", "right": "no source has these words"})
