"""Objects that a look could trip over: each draws a whole card, says what is so, and is left as it was."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import io
import mmap
import os
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi
import fingerprints
import numpy as np
import pytest

import inspector
from inspector.adapters import registry
from inspector.errors import InspectorWarning
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]
FFI = cffi.FFI()


def released_view() -> Any:
    view = memoryview(bytearray(8))
    view.release()
    return view


def released_buffer() -> Any:
    lent = FFI.from_buffer(bytearray(8))
    FFI.release(lent)
    return lent


class Liar(np.ndarray):
    """Every attribute a look could ask for raises."""

    base = shape = flags = nbytes = property(lambda self: 1 / 0)  # type: ignore[assignment]
    __array_interface__ = property(lambda self: 1 / 0)  # type: ignore[assignment]


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "closed file": (lambda: closed(Path(os.devnull).open("rb")), "closed"),  # noqa: SIM115
    "closed BytesIO": (lambda: closed(io.BytesIO(b"abc")), "closed"),
    "released memoryview": (released_view, "closed"),
    "released buffer of cffi": (released_buffer, "closed"),
    "closed mmap": (lambda: closed(mmap.mmap(-1, 4096)), "closed"),
    "subclass that lies": (lambda: np.arange(5.0).view(Liar), "view"),
    "no elements": (lambda: np.zeros((3, 0)), "owned"),
    "no dimension": (lambda: np.array(1.5), "owned"),
    "empty bytes": (lambda: memoryview(b""), "view"),
}


def closed(x: Any) -> Any:
    x.close()
    return x


@pytest.mark.parametrize("kind", BAD)
def test_the_card_is_whole(kind: str) -> None:
    make, state = BAD[kind]
    x = make()
    inspector.inspect(x, name="x")
    before = fingerprints.fingerprint(x)
    report = inspector.inspect(x, name="x")
    assert fingerprints.fingerprint(x) == before
    assert report.materialization.state == state
    assert kind != "subclass that lies" or report.materialization.logical_bytes == 40
    assert "could not" not in report.to_text()
    text = report.drawn(everything=True).to_text()
    assert f"state    {state}" in text and "could not" not in text
    assert report.to_html() and report.to_json()


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


def test_a_truncated_file_is_told_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "cut.bin"
    path.write_bytes(bytes(5 * mmap.PAGESIZE))
    with path.open("r+b") as file:
        made = mmap.mmap(file.fileno(), 0)
    os.truncate(path, 10)
    report = inspector.inspect(made, name="made")
    assert "truncated-file" in [one.slug for one in report.materialization.findings]
    assert "cut.bin ends 16 kB before the mapping does" in report.to_text() and report.to_html()
    assert "truncated-file" in report.to_text()
    lent = memoryview(made)
    assert "truncated-file" in [one.slug for one in inspector.findings(lent)]
    lent.release()


def test_a_module_that_lies_about_its_dict() -> None:
    class Module(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

    assert inspector.inspect(Module("m"), name="m").to_text()
