"""The table of faults in docs/cluster.md names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.libraries
HERE = Path(__file__).parent


def test_each_fault_of_the_docs_names_its_test() -> None:
    text = (HERE.parents[1] / "docs" / "cluster.md").read_text()
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    assert len(named) >= 12
    assert [one for one in named if f"def {one[1]}(" not in (HERE / one[0]).read_text()] == []
