"""Lazy vectors: elements that are computed when somebody asks for them (R's ALTREP, for Python).

`lazy.abs`, `lazy.arange`, `lazy.map` and `lazy.wrap` make them, `lazy.Vector` is the class to subclass,
`lazy.check_lazy` proves a provider's contract, `lazy.include()` is where the C header lies.
"""

from __future__ import annotations

from inspector.lazy import by_block as _by_block  # adds np.isin and astype to what stays lazy
from inspector.lazy.check import check_lazy
from inspector.lazy.recipes import abs, arange, include, map, wrap
from inspector.lazy.vector import Vector

_RULES = _by_block
__all__ = ["Vector", "abs", "arange", "check_lazy", "include", "map", "wrap"]
