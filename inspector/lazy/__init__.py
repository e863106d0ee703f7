"""Lazy vectors: elements are computed when they are read (R's ALTREP, for Python).

`lazy.abs`, `lazy.arange`, `lazy.map` and `lazy.wrap` create them, `lazy.Vector` is the class to subclass,
`lazy.check_lazy` checks a provider's contract, `lazy.include()` is the folder of the C header.
"""

# SPDX-License-Identifier: MIT
from inspector.lazy import by_block as _by_block  # registers np.isin and astype as lazy
from inspector.lazy.check import check_lazy
from inspector.lazy.recipes import abs, arange, include, map, wrap
from inspector.lazy.vector import Vector

_RULES = _by_block
__all__ = ["Vector", "abs", "arange", "check_lazy", "include", "map", "wrap"]
