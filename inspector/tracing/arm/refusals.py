"""What a trace refuses, and why."""

from __future__ import annotations

from inspector.errors import InspectorError


def not_live() -> InspectorError:
    """A trace that was loaded is to record."""
    return InspectorError(
        "a loaded trace cannot record.", slug="trace-not-finished", do="begin a new one: inspector.trace(...)"
    )
