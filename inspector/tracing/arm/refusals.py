"""Errors for what a trace refuses."""

# SPDX-License-Identifier: MIT
from inspector.errors import InspectorError


def not_live() -> InspectorError:
    """The error for recording with a loaded trace."""
    return InspectorError(
        "a loaded trace cannot record.", slug="trace-not-finished", do="begin a new one: inspector.trace(...)"
    )
