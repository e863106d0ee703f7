"""Weak references, and functions with an lru_cache."""

# SPDX-License-Identifier: MIT
import functools
import weakref
from typing import Any

from inspector.adapters.base import Adapter
from inspector.adapters.told import Layer, Told, attribute

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
            alive = x() is not None
            value: Any = "computed" if alive else "closed"
            seen = (attribute("x()", "an object" if alive else "None"),)
            wrapper = Layer("wrapper", "ReferenceType", value, "heap" if alive else "none", "view", seen)
            return Told((wrapper,), state="view" if alive else "freed")
        kept = x.cache_info().currsize
        value = "partial" if kept else "lazy"
        seen = (attribute("x.cache_info().currsize", kept),)
        wrapper = Layer("wrapper", "lru_cache", value, "heap", "owned", seen, ("a call",))
        return Told((wrapper,), waits_for="a call")


ADAPTER = References()
