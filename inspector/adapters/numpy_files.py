"""NumPy's objects that are not arrays: an open .npz file, which reads arrays at each access; an nditer."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute, finding

_get = object.__getattribute__


class NumPyFiles(Adapter):
    """Exact NpzFile and nditer."""

    library = "numpy"
    versions = ("1.26", "3")
    exact = ("lib.npyio.NpzFile", "nditer")

    def self_test(self) -> None:
        """An nditer reports when it is finished."""
        made = sys.modules["numpy"].nditer([1, 2])
        before = made.finished
        list(made)
        if (before, made.finished) != (False, True):
            raise ValueError("nditer.finished does not say whether it is")

    def layers(self, x: Any) -> Told:
        """lazy: each access to a name reads the file; closed if the file is closed."""
        return _npz(x) if type_name(type(x)) == "NpzFile" else _nditer(x)


def _npz(x: Any) -> Told:
    closed = _get(x, "zip") is None
    count = len(_get(x, "files"))
    seen = (attribute("x.zip", "None" if closed else "open"), attribute("x.files", f"{count} names"))
    use = () if closed else ("x[name], each time again",)
    value: Any = "closed" if closed else "lazy"
    layer = Layer("wrapper", "NpzFile", value, "remote/on disk", "owned", seen, use, ("x.files", "repr"))
    return Told((layer,), waits_for="" if closed else "x[name]")


def _nditer(x: Any) -> Told:
    try:
        operands, delayed, over = x.operands, x.has_delayed_bufalloc, x.finished
    except ValueError:  # closed
        evidence = (attribute("x.operands", "ValueError: closed"),)
        return Told((Layer("wrapper", "nditer", "closed", "none", evidence=evidence),))
    pending = any(one.flags.writebackifcopy for one in operands)
    value: Any = "consumed" if over else "lazy"
    seen = (attribute("x.finished", over), attribute("x.has_delayed_bufalloc", delayed))
    layer = Layer("wrapper", "nditer", value, "none" if delayed else "heap", evidence=seen)
    return Told((layer,), findings=(finding("pending-write-back"),) if pending else ())


ADAPTER = NumPyFiles()
