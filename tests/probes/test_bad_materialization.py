"""Objects that a look could trip over: each draws a whole card, says what is so, and is left as it was."""

# SPDX-License-Identifier: MIT
import mmap
import os
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.adapters import registry
from inspector.errors import InspectorWarning
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


def test_a_library_of_an_unknown_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "__version__", "99.0")
    monkeypatch.setattr(registry, "_registry", registry._from_folder())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fact = inspector.materialization(np.arange(3.0))
        text = inspector.inspect(np.arange(3.0), name="x").to_text()
    about = [str(one.message) for one in said if issubclass(one.category, InspectorWarning)]
    assert about and all("version 99.0 of numpy is outside 1.26 <= version < 3" in one for one in about)
    assert isinstance(fact.state, Unknown) and "version 99.0" in fact.state.reason
    assert "version 99.0" in text.replace("\n          ", " ")


def test_an_adapter_that_fails_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = registry.adapter_of(np.ndarray)
    monkeypatch.setattr(type(adapter), "layers", lambda self, x: 1 / 0)
    report = inspector.inspect(np.arange(3.0), name="x")
    assert isinstance(report.facts["materialization"], Unknown)
    assert "ZeroDivisionError" in report.to_text()
    assert "memory   24 B" in report.to_text(), "the other columns stand"


def mapped(path: Path) -> mmap.mmap:
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


@pytest.mark.parametrize("opened", [mapped, lambda path: np.memmap(path, "u1", "r+")], ids=["mmap", "memmap"])
def test_a_truncated_file_is_told_and_not_read(opened: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "cut.bin"
    path.write_bytes(bytes(5 * mmap.PAGESIZE))
    made = opened(path)
    os.truncate(path, 10)
    report = inspector.inspect(made, name="made")
    assert "truncated-file" in [one.slug for one in report.materialization.findings]
    assert "cut.bin ends 16 kB before the mapping does" in report.to_text() and report.to_html()
    assert "truncated-file" in report.to_text() and report.to_json()
    lent = memoryview(made)
    assert "truncated-file" in [one.slug for one in inspector.findings(lent)]
    lent.release()


def test_a_module_that_lies_about_its_dict() -> None:
    class Module(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

    assert inspector.inspect(Module("m"), name="m").to_text()
