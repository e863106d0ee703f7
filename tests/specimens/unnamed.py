"""An object whose address stands nowhere in memory yet: a test about what is stored meets no leftovers.

A process that ran other tests is full of addresses of objects that are gone, in blocks that live on and were
never overwritten. A new object may lie at one of them: those words are pointers to it, and nobody can say
that they hold nothing.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

from inspector import _native
from inspector.objects.probes.refs import owners

TRIES = 50


class Thing:
    """A subject: nothing but what a test plants holds it."""


def boxed(make: Callable[[], Any] = Thing) -> _native.Subject:
    """A new object in a Subject that alone holds it; nothing else in memory looks like a pointer to it."""
    passed_over = []
    for _ in range(TRIES):
        subject = _native.Subject(make())
        if not owners(subject, scan=True).owners:
            return subject
        passed_over.append(subject)
    raise AssertionError(f"{TRIES} new objects, and each lies at an address that memory still names")
