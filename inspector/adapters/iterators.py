"""Iterators of builtin containers, ranges, dict views: few bytes that describe many elements."""

# SPDX-License-Identifier: MIT
import gc
import itertools
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute, field, of_type

_LIST = [0]
_DICT: dict[int, int] = {}
_COUNTED: tuple[type, ...] = tuple(
    type(iter(source))
    for source in (_LIST, (1,), "a", "é", b"", bytearray(), range(1), range(1 << 70), _DICT, {1})
)
_REVERSED = tuple(
    type(one)
    for one in (
        reversed(_LIST),
        iter(_DICT.values()),
        iter(_DICT.items()),
        reversed(_DICT),
        reversed(_DICT.values()),
        reversed(_DICT.items()),
    )
)


class _Items:
    def __getitem__(self, place: int) -> int:
        return place


_COMPOSED: tuple[type, ...] = (
    *(map, zip, enumerate, filter, reversed, type(itertools.tee(_LIST)[0])),
    *(type(iter(_Items())), type(iter(int, 1))),
)
_ITERTOOLS = tuple(
    kind
    for name, kind in vars(itertools).items()
    if isinstance(kind, type) and not name.startswith("_") and kind.__module__ == "itertools"
)
_VIEWS: tuple[type, ...] = (type(_DICT.keys()), type(_DICT.values()), type(_DICT.items()))
ITERATORS: tuple[type, ...] = (*_VIEWS, *_COUNTED, *_REVERSED, *_COMPOSED, *_ITERTOOLS)
"""All types of the adapter but `range`: what they keep, their `tp_traverse` visits."""


class Iterators(Adapter):
    """Exact builtin types: their length hints and mappings are C code that runs no user code."""

    def types(self) -> tuple[type, ...]:
        """Ranges, views, and iterators of containers, of functions and of itertools."""
        return (range, *ITERATORS)

    def self_test(self) -> None:
        """An exhausted list iterator releases its list; the length hint follows the remaining items."""
        made: Any = iter([1, 2])
        told = (made.__length_hint__(), bool(gc.get_referents(made)))
        list(made)
        if (told, made.__length_hint__(), gc.get_referents(made)) != ((2, True), 0, []):
            raise ValueError("a list iterator does not release its list at its end")

    def layers(self, x: Any) -> Told:
        """virtual: ranges and views; lazy or consumed: iterators."""
        kind, name = type(x), type_name(type(x))
        if kind is range:
            says = (attribute("x.start, x.stop, x.step", f"{x.start}, {x.stop}, {x.step}"),)
            use, idle = ("list(x)", "np.asarray"), ("len", "x[i]")
            layer = Layer("wrapper", name, "lazy", "none", "owned", says, use, idle)
            return Told((layer,), state="virtual")
        if any(kind is view for view in _VIEWS):
            seen = (attribute("x.mapping", type_name(type(gc.get_referents(x)[0]))),)
            layer = Layer("wrapper", name, "computed", "none", "view", seen, ("list(x)",))
            return Told((layer,), state="view")
        if any(kind is one for one in (*_COUNTED, *_REVERSED)):
            return _counted(x, name)
        layer = Layer("wrapper", name, "lazy", "none", "owned", (of_type(name),), ("next()",), ("repr",))
        return Told((layer,), waits_for="next()")


def _counted(x: Any, name: str) -> Told:
    """An iterator that knows its remaining length; at its end it releases its source."""
    left = x.__length_hint__()
    source = next((type_name(type(held)) for held in gc.get_referents(x)), "gone")
    over = not left and (source == "gone" or "range" in name)
    seen = (attribute("x.__length_hint__()", left), field("source", source))
    use = () if over else ("next()",)
    layer = Layer("wrapper", name, "consumed" if over else "lazy", "none", "owned", seen, use, ("repr",))
    return Told((layer,), waits_for="" if over else "next()")


ADAPTER = Iterators()
