"""bytes, bytearray and memoryview. Taking a buffer of them has no side effects."""

# SPDX-License-Identifier: MIT
import gc
import io
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_name
from inspector.adapters.formats import format_name
from inspector.adapters.told import Layer, Told, attribute, field, of_type
from inspector.facts.unknown import Unknown

_OF_BYTESIO = type(io.BytesIO().getbuffer().obj)
"""Type of the object that a BytesIO exports its bytes by; it refers to the BytesIO alone."""


class Language(Adapter):
    """Exact types only: a subclass may define `__buffer__` (PEP 688)."""

    def types(self) -> tuple[type, ...]:
        """The builtin bytes types."""
        return (bytes, bytearray, memoryview)

    def self_test(self) -> None:
        """The export counts of a bytearray and of a memoryview follow a buffer taken from them."""
        count_follows(bytearray(8))
        count_follows(memoryview(bytes(8)))

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """One block; none for a released memoryview."""
        return asked(x)

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """A memoryview's exporter (PyMemoryView_GET_BASE), or the BytesIO behind it."""
        if type(x) is not memoryview or is_released(x) or x.obj is None:
            return ()
        held = gc.get_referents(x.obj) if type(x.obj) is _OF_BYTESIO else ()  # from 3.14 its type, too
        return (("obj", next((one for one in held if type(one) is not type), x.obj)),)

    def owns(self, x: Any) -> bool | Unknown:
        """True, except for a memoryview."""
        return type(x) is not memoryview

    def exports(self, x: Any) -> int | Unknown:
        """From the C struct; immutable bytes keep no count."""
        if type(x) is bytes:
            return Unknown("bytes cannot change, so it keeps no count")
        return _native.exports(x)

    def layers(self, x: Any) -> Told:
        """A released memoryview is closed; a bytearray cannot be resized while its buffer is exported."""
        name = type_name(type(x))
        if type(x) is bytes:
            return Told((Layer("wrapper", name, evidence=(of_type(name),)),))
        if type(x) is memoryview and is_released(x):
            gone = (attribute("x.obj", "ValueError: released"),)
            return Told((Layer("wrapper", name, "closed", "none", "view", gone),))
        exports = _native.exports(x)
        would = ("resize: BufferError",) if exports and type(x) is bytearray else ()
        title: Any = "view" if type(x) is memoryview else "owned"  # also if empty
        seen = (of_type(name), field("exports", exports))
        return Told((Layer("wrapper", name, title=title, evidence=seen, would=would),))


def asked(x: Any, numeric: bool = True) -> tuple[Elements, ...]:
    """The answer of the buffer protocol, for types without side effects; () if they refuse (closed)."""
    try:
        address, _, itemsize, typestr, shape, strides, readonly, indirect, exporter = _native.ask_buffer(x)
    except (ValueError, BufferError):
        return ()
    if indirect:
        return ()
    return (
        Elements(
            "buffer",
            address,
            shape,
            strides,
            itemsize,
            format_name(typestr, itemsize),
            typestr,
            readonly,
            exporter,
            numeric=numeric,
        ),
    )


def is_released(view: memoryview) -> bool:
    """Whether `view.release()` has been called: then every attribute raises."""
    try:
        return view.ndim < 0
    except ValueError:
        return True


def count_follows(x: Any) -> None:
    """Raise ValueError if the export count of `x` does not follow a buffer taken and released."""
    from _pickle import PickleBuffer

    before = _native.exports(x)
    consumer = PickleBuffer(x)
    during = _native.exports(x)
    consumer.release()
    if (during - before, _native.exports(x)) != (1, before):
        raise ValueError(f"the export count of {type(x).__name__} is not where it was")


ADAPTER = Language()
