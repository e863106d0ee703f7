"""The self test of an adapter that only names a sample: what it tells must be true of that object."""

from __future__ import annotations

from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, type_name


def check(adapter: Adapter, x: Any) -> None:
    """Raise ValueError where an answer about `x` is wrong, or a question changed it."""
    subject = _native.Subject(x)
    del x
    before = subject.refcount()
    _bytes(adapter, subject)
    adapter.layers(subject.get())
    adapter.owns(subject.get())
    adapter.holds(subject.get())
    if subject.refcount() != before:
        raise ValueError("its answers keep a reference to the object")


def _bytes(adapter: Adapter, subject: _native.Subject) -> None:
    """Its bytes can be read; where the object speaks the buffer protocol, they are those it lends."""
    spans = adapter.spans(subject.get())
    if not spans:
        raise ValueError(f"a {type_name(type(subject.get()))} made for the test has no bytes")
    if any(_native.read(end, 1) is None for span in spans for end in (span.start, span.stop - 1)):
        raise ValueError("the bytes it tells of cannot be read")
    if len(spans) == 1 and _native.speaks_buffer(type(subject.get())):
        lent = _native.ask_buffer(subject.get())[0]
        if lent != adapter.elements(subject.get())[0].address:
            raise ValueError("the address it tells is not the one it lends")
