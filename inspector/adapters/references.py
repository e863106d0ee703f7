"""Weak references, and functions with an lru_cache."""

# SPDX-License-Identifier: MIT
import functools
import weakref
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute
from inspector.facts.amounts import with_article

_CACHED = type(functools.lru_cache(len))


class References(Adapter):
    """Exact weakref.ref and the C type behind functools.lru_cache."""

    def types(self) -> tuple[type, ...]:
        """weakref.ref, functools._lru_cache_wrapper."""
        return (weakref.ref, _CACHED)

    def self_test(self) -> None:
        """cache_info() counts the cached results."""
        remembers = functools.lru_cache(abs)
        remembers(-1)
        if remembers.cache_info().currsize != 1:
            raise ValueError("cache_info().currsize does not count")

    def layers(self, x: Any) -> Told:
        """freed if the referent was freed; partially materialized if results are cached."""
        if type(x) is weakref.ref:
            kind = type(x())
            alive = kind is not type(None)
            value: Any = "computed" if alive else "closed"
            seen = (attribute("x()", "an object" if alive else "None"),)
            what = f"ReferenceType to {with_article(type_name(kind))}" if alive else "ReferenceType"
            wrapper = Layer("wrapper", what, value, "heap" if alive else "none", "view", seen)
            return Told((wrapper,), state="view" if alive else "freed")
        kept = x.cache_info().currsize
        value = "partial" if kept else "lazy"
        seen = (attribute("x.cache_info().currsize", kept),)
        wrapper = Layer("wrapper", "lru_cache", value, "heap", "owned", seen, ("a call",))
        return Told((wrapper,), waits_for="a call")


ADAPTER = References()
