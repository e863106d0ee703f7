"""What a free-threaded CPython imports in place of the extension: one sentence.

The extension reads reference counts, the collector's lists and frames as the GIL keeps them. A free-threaded
build has other counts and no such lists, and nothing would stand still meanwhile: a crash or a wrong number.
"""

# SPDX-License-Identifier: MIT
import sys

raise ImportError(
    f"inspector._native needs the GIL, and this CPython {sys.version.split()[0]} is free-threaded:"
    " no live object can be inspected, saved reports can (inspector report, inspector diff)"
)
