"""The libraries of the adapters' tests as fixtures: imported by the test that needs them."""

# SPDX-License-Identifier: MIT
import contextlib
import importlib
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import asking
import fingerprints
import pytest

import inspector
from inspector.facts.materialization import Materialization

NAMES = {
    "pa": "pyarrow",
    "pl": "polars",
    "da": "dask.array",
    "xr": "xarray",
    "sparse": "scipy.sparse",
    "ak": "awkward",
    "pillow": "PIL.Image",
    "sa": "sqlalchemy",
    **{name: name for name in ("h5py", "zarr", "duckdb", "ibis", "torch", "jax")},
}
"""Fixture -> the module it gives."""
_ROOMS = re.compile(r"^pytestmark = \[?pytest\.mark\.(libraries|newest)\b", re.M)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Other rows do not open the files of the libraries' rooms: some import their library at once."""
    room = "libraries" in (config.option.markexpr or "").replace("not libraries", "")
    other = not room and collection_path.suffix == ".py"
    return True if other and _ROOMS.search(collection_path.read_text()) else None


def _fixture(name: str, module: str) -> Any:
    @pytest.fixture(name=name, scope="session")
    def library() -> ModuleType:
        with warnings.catch_warnings():  # what an old release says about a newer one beside it
            warnings.simplefilter("ignore")
            return importlib.import_module(module)

    return library


for _name, _module in NAMES.items():
    globals()[f"library_{_name}"] = _fixture(_name, _module)


@pytest.fixture
def look() -> asking.Look:
    """`look(x)`: its materialization; the first look already leaves x, and the open files, as they were."""
    return undisturbed


@pytest.fixture
def state() -> Callable[[Any], Any]:
    """What else of an object a look may not change: a file of tests says so by its own fixture `state`."""
    return lambda x: None


@pytest.fixture
def told(state: Callable[[Any], Any]) -> asking.Tell:
    """`told(x)`: the adapter's own answer, after questions that changed nothing."""
    return lambda x: asking.unchanged(x, state)


def undisturbed(x: object) -> Materialization:
    inspector.materialization(())  # the adapters are awake, the kernel's page tables are open
    inspector.materialization(type("Unknown", (), {"__module__": type(x).__module__})())
    before = (fingerprints.fingerprint(x), opened())
    told = inspector.materialization(x)
    assert (fingerprints.fingerprint(x), opened()) == before
    return told


def opened() -> list[str]:
    """What this process has open, by descriptor."""
    found = []
    for number in sorted(os.listdir("/proc/self/fd"), key=int):
        with contextlib.suppress(OSError):  # the descriptor of this listing
            found.append(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
    return found
