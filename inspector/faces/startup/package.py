"""Make only `inspector` importable in another program's Python, and report the result.

Executed as text by first/sitecustomize.py and visit.py, before `inspector` can be imported.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import os
import sys
from typing import Any


def package(settings: dict[str, Any]) -> None:
    """Import `inspector` from our folder; else, where the versions are equal, the one of this Python.

    Nothing beside it becomes importable. Raises LookupError where neither has a build for this Python.
    """
    import importlib.util
    from importlib.machinery import EXTENSION_SUFFIXES, PathFinder

    folder = settings["package"]
    if not any(os.path.exists(os.path.join(folder, f"_native{suffix}")) for suffix in EXTENSION_SUFFIXES):
        spec = PathFinder.find_spec("inspector")
        folder = os.path.dirname(spec.origin) if spec and spec.origin else ""
        with open(os.path.join(folder, "__init__.py") if folder else os.devnull, encoding="utf-8") as file:
            if f'__version__ = "{settings["version"]}"' not in file.read():
                raise LookupError(sys.version.partition(" ")[0])
    spec = importlib.util.spec_from_file_location(
        "inspector", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["inspector"] = module
    spec.loader.exec_module(module)


def tell(settings: dict[str, Any], name: str, **facts: str) -> None:
    """Write a small JSON file about this process into the trace's folder."""
    python = {"version": sys.version.partition(" ")[0], "executable": sys.executable, "prefix": sys.prefix}
    path = os.path.join(settings["folder"], f"{name}-{os.getpid()}.json")
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        json.dump({**python, **facts}, file)
    os.replace(f"{path}.part", path)  # atomic: another process waits for the file
