"""See what happens where Python meets native code. Names are resolved on first use (PEP 562)."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.2.0"

_ROOMS = {
    "inspector.api": "inspect refcount owners chain retained shares compare materialization findings aliases "
    "snapshot heap compile_c",
    "inspector.sessions.compiled_call": "call_c",
    "inspector.sessions.running": "attach breakpoints stacks writes",
    "inspector.sessions.memory": "memory",
    "inspector.sessions.lost": "lost",
    "inspector.sessions.growth.block": "growth",
    "inspector.sessions.r": "r",
    "inspector.sessions.no_new": "no_new",
    "inspector.sessions.trace": "trace load",
    "inspector.sessions.promises": "no_copy no_materialize",
    "inspector.sessions.catalogue.cited": "conversions",
    "inspector.sessions.leaks": "leaks no_leaks",
    "inspector.faces.cluster.client": "on",
    "inspector.report": "Report",
    "inspector.facts.unknown": "Unknown Immortal",
    "inspector.lazy": "check_lazy",
    "inspector": "lazy errors",
}
_DOORS = {name: room for room, names in _ROOMS.items() for name in names.split()}

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
