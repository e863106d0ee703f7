"""The referents that objects report to the gc, except those of modules.

The `m_traverse` of a module may visit freed objects: that of _asyncio (CPython 3.12) visits its free list. A
new reference to such an object, once released, puts it on that list again, and the next visit never ends.
"""

# SPDX-License-Identifier: MIT
import gc
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_NAMESPACE = vars(ModuleType)["__dict__"].__get__


def referents(objects: Sequence[Any]) -> list[Any]:
    """As gc.get_referents, by `tp_traverse`; for a module only its namespace."""
    modules = [x for x in objects if issubclass(type(x), ModuleType)]
    others = [x for x in objects if not issubclass(type(x), ModuleType)] if modules else objects
    return [*gc.get_referents(*others), *map(_NAMESPACE, modules)]


def is_full(x: list[Any] | tuple[Any, ...]) -> bool:
    """Whether no item of an exact list or tuple is NULL, as C code that still makes one leaves them.

    Reading a NULL item ends the process.
    """
    return len(referents((x,))) == len(x)
