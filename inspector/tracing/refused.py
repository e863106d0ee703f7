"""What a trace refuses, and why."""

from __future__ import annotations

from inspector.errors import InspectorError


def not_built(option: str) -> InspectorError:
    """An option that has no effect in this version."""
    return InspectorError(
        f"trace({option}=...) is not built yet.",
        slug="not-built",
        why="a trace without it would look as if it had been honoured",
        do="leave it out",
    )


def not_live() -> InspectorError:
    """A trace that was loaded is to record."""
    return InspectorError(
        "a loaded trace cannot record.", slug="trace-not-finished", do="begin a new one: inspector.trace(...)"
    )
