"""See what happens where Python meets native code. Names are resolved on first use (PEP 562)."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"

_DOORS = {
    "inspect": "inspector.api",
    "refcount": "inspector.api",
    "owners": "inspector.api",
    "chain": "inspector.api",
    "retained": "inspector.api",
    "shares": "inspector.api",
    "compare": "inspector.api",
    "materialization": "inspector.api",
    "findings": "inspector.api",
    "aliases": "inspector.api",
    "snapshot": "inspector.api",
    "heap": "inspector.api",
    "call_c": "inspector.sessions.compiled_call",
    "compile_c": "inspector.api",
    "attach": "inspector.sessions.running",
    "breakpoints": "inspector.sessions.running",
    "stacks": "inspector.sessions.running",
    "writes": "inspector.sessions.running",
    "trace": "inspector.sessions.trace",
    "no_copy": "inspector.sessions.promises",
    "no_materialize": "inspector.sessions.promises",
    "conversions": "inspector.sessions.preview",
    "leaks": "inspector.sessions.leaks",
    "no_leaks": "inspector.sessions.leaks",
    "load": "inspector.sessions.trace",
    "on": "inspector.faces.cluster.client",
    "Report": "inspector.report",
    "Unknown": "inspector.facts.unknown",
    "Immortal": "inspector.facts.unknown",
    "check_lazy": "inspector.lazy",
    "lazy": "inspector",
    "errors": "inspector",
}

__all__ = sorted([*_DOORS, "__version__"])


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _DOORS:
        raise AttributeError(f"module 'inspector' has no attribute {name!r}")
    if _DOORS[name] == "inspector":
        return importlib.import_module(f"inspector.{name}")
    value = getattr(importlib.import_module(_DOORS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics: `%load_ext inspector`."""
    from inspector import magics

    magics.register(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Remove the magics: `%unload_ext inspector`."""
    from inspector import magics

    magics.unregister(shell)
