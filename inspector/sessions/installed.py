"""Which inspector this is."""

# SPDX-License-Identifier: MIT
from importlib import metadata


def build() -> str:
    """Return the version and the extension's build: "0.2.0 (CPython 3.14.10, Clang 21.1, glibc 2.28)"."""
    try:
        from inspector._native import BUILD
    except ImportError as error:
        BUILD = f"the extension does not load: {error}"
    return f"{metadata.version('native-inspector')} ({BUILD})"
