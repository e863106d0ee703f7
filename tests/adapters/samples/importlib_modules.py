"""Objects that the adapter `importlib_modules` is tried on."""

# SPDX-License-Identifier: MIT
import importlib.util


def samples():
    """A module that is not loaded yet."""
    spec = importlib.util.find_spec("this")
    assert spec is not None and spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
