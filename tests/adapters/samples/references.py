"""Objects that the adapter `references` is tried on."""

# SPDX-License-Identifier: MIT
import functools
import weakref


def samples():
    """Alive and gone, empty and filled."""
    kept = {1}
    yield from (weakref.ref(kept), weakref.ref({2}))
    filled = functools.lru_cache(abs)
    filled(-1)
    yield from (functools.lru_cache(len), filled)
