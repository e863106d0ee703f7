"""Objects that the adapter `importlib_modules` is tried on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

LIBRARY = "importlib.util"


def samples() -> Iterator[Any]:
    """A module that is not loaded yet."""
    spec = importlib.util.find_spec("this")
    assert spec is not None and spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
