"""The libraries of the adapters' tests as fixtures: imported by the test that needs them."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType
from typing import Any

import pytest

NAMES = {
    "pa": "pyarrow",
    "pl": "polars",
    "da": "dask.array",
    "xr": "xarray",
    "h5py": "h5py",
    "zarr": "zarr",
    "sparse": "scipy.sparse",
    "ak": "awkward",
    "duckdb": "duckdb",
    "ibis": "ibis",
    "pillow": "PIL.Image",
    "sa": "sqlalchemy",
    "torch": "torch",
    "jax": "jax",
}
"""Fixture -> the module it gives."""


def _fixture(name: str, module: str) -> Any:
    @pytest.fixture(name=name, scope="session")
    def library() -> ModuleType:
        with warnings.catch_warnings():  # what an old release says about a newer one beside it
            warnings.simplefilter("ignore")
            return importlib.import_module(module)

    return library


for _name, _module in NAMES.items():
    globals()[f"library_{_name}"] = _fixture(_name, _module)
