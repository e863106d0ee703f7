"""The self test of an adapter with a sample: its answers must be true of that object."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector._native import Subject
from inspector.adapters.base import Adapter, type_name


def check(adapter: Adapter) -> None:
    """Raise ValueError if an answer about its sample is wrong, or a method keeps a reference to it."""
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
    """Check that its bytes are readable and, if it supports the buffer protocol, are those it exports."""
    from inspector import _native

    spans = adapter.spans(subject.get())
    if not spans:
        raise ValueError(f"a {type_name(type(subject.get()))} made for the test has no bytes")
    if any(_native.read(end, 1) is None for span in spans for end in (span.start, span.stop - 1)):
        raise ValueError("the bytes it reports cannot be read")
    if len(spans) == 1 and _native.speaks_buffer(type(subject.get())):
        lent = _native.ask_buffer(subject.get())[0]
        if lent != adapter.elements(subject.get())[0].address:
            raise ValueError("the address it tells is not the one it lends")
