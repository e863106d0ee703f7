"""A class as CPython stores it: no metaclass is asked, and one that was never made ready is told as it is.

Extensions may use a static type without PyType_Ready (c-api/type), as f2py did with its `fortran`: it has no
`tp_mro` and no `tp_dict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MRO = type.__dict__["__mro__"].__get__
_NAMESPACE = type.__dict__["__dict__"].__get__


def type_bases(kind: type) -> tuple[type, ...]:
    """The method resolution order (`tp_mro`); itself alone where there is none."""
    return tuple(_MRO(kind) or (kind,))


def type_namespace(kind: type) -> Mapping[str, Any]:
    """What the class itself defines (`tp_dict`); empty where there is none."""
    found: Mapping[str, Any] | None = _NAMESPACE(kind)
    return {} if found is None else found
