"""NumPy's objects that are not arrays: an open .npz file, which reads arrays at each access; iterators."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.beyond import Beyond, Counted
from inspector.adapters.told import Layer, Told, attribute, finding
from inspector.facts.amounts import counted

_get = object.__getattribute__


class NumPyFiles(Adapter):
    """Exact NpzFile, nditer and flatiter."""

    library = "numpy"
    versions = ("1.26", "3")
    exact = ("lib.npyio.NpzFile", "nditer", "flatiter")

    def self_test(self) -> None:
        """An nditer reports when it is finished."""
        made = sys.modules["numpy"].nditer([1, 2])
        before = made.finished
        list(made)
        if (before, made.finished) != (False, True):
            raise ValueError("nditer.finished does not say whether it is")

    def layers(self, x: Any) -> Told:
        """lazy: each access to a name reads the file; closed if the file is closed."""
        kind = type_name(type(x))
        return _npz(x) if kind == "NpzFile" else _nditer(x) if kind == "nditer" else _flat(x)

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The arrays that an iterator goes over."""
        if type_name(type(x)) == "flatiter":
            return (("base", x.base),)
        arrays = _operands(x) if type_name(type(x)) == "nditer" else None
        return tuple(("operands", one) for one in arrays or ())

    def beyond(self, x: Any, found: Beyond) -> None:
        """References to arrays in C structs that tp_traverse does not visit."""
        if held := tuple(id(one) for _, one in self.holds(x)):
            found.add(Counted(id(x), 0, 0, "", (0, 0), held))


def _npz(x: Any) -> Told:
    closed = _get(x, "zip") is None
    count = len(_get(x, "files"))
    seen = (attribute("x.zip", "None" if closed else "open"), attribute("x.files", f"{count} names"))
    use = () if closed else ("x[name], each time again",)
    value: Any = "closed" if closed else "lazy"
    layer = Layer("wrapper", "NpzFile", value, "remote/on disk", "owned", seen, use, ("x.files", "repr"))
    return Told((layer,), waits_for="" if closed else "x[name]")


def _flat(x: Any) -> Told:
    seen = (attribute("x.base", "ndarray"), attribute("x.index", x.index))
    layer = Layer("wrapper", "flatiter", "computed", "none", "view", seen, ("x.copy()",), ("next()", "repr"))
    words = "Goes over the elements of an array, which it keeps: a write through it is a write to the array."
    return Told((layer,), state="view", in_words=words)


def _operands(x: Any) -> tuple[Any, ...] | None:
    """None of a closed iterator."""
    try:
        return tuple(x.operands)
    except ValueError:
        return None


def _nditer(x: Any) -> Told:
    operands = _operands(x)
    if operands is None:
        evidence = (attribute("x.operands", "ValueError: closed"),)
        return Told((Layer("wrapper", "nditer", "closed", "none", evidence=evidence),))
    delayed, over = x.has_delayed_bufalloc, x.finished
    pending = any(one.flags.writebackifcopy for one in operands)
    value: Any = "consumed" if over else "lazy"
    seen = (attribute("x.finished", over), attribute("x.has_delayed_bufalloc", delayed))
    layer = Layer("wrapper", "nditer", value, "none" if delayed else "heap", evidence=seen)
    words = "" if over else f"Goes over {counted(len(operands), 'array')}, which it keeps."
    return Told((layer,), findings=(finding("pending-write-back"),) if pending else (), in_words=words)


ADAPTER = NumPyFiles()
