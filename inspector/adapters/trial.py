"""The self test of an adapter that only names a sample: what it tells must be true of that object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.adapters.base import Adapter, type_name

if TYPE_CHECKING:
    from inspector._native import Subject


def check(adapter: Adapter) -> None:
    """Raise ValueError where an answer about its sample is wrong, or a question keeps it."""
    x: Any = adapter.sample()
    if x is None:
        return
    from inspector import _native

    subject = _native.Subject(x)
    del x
    before = subject.refcount()
    _bytes(adapter, subject)
    adapter.layers(subject.get())
    adapter.owns(subject.get())
    adapter.holds(subject.get())
    if subject.refcount() != before:
        raise ValueError("its answers keep a reference to the object")


def _bytes(adapter: Adapter, subject: Subject) -> None:
    """Its bytes can be read; where the object speaks the buffer protocol, they are those it lends."""
    from inspector import _native

    spans = adapter.spans(subject.get())
    if not spans:
        raise ValueError(f"a {type_name(type(subject.get()))} made for the test has no bytes")
    if any(_native.read(end, 1) is None for span in spans for end in (span.start, span.stop - 1)):
        raise ValueError("the bytes it tells of cannot be read")
    if len(spans) == 1 and _native.speaks_buffer(type(subject.get())):
        lent = _native.ask_buffer(subject.get())[0]
        if lent != adapter.elements(subject.get())[0].address:
            raise ValueError("the address it tells is not the one it lends")
