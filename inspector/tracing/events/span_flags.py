"""The flags of a span (native/objects/spans.h): what is known of the bytes in a record."""

# SPDX-License-Identifier: MIT
from typing import Final

SPAN_C: Final = 1
SPAN_F: Final = 2
SPAN_READONLY: Final = 4
SPAN_OWNED: Final = 8
"""Its object frees the bytes."""
SPAN_LINKED: Final = 16
"""They come from an allocator linked into its library, which cannot be hooked."""
SPAN_TOLD: Final = 32
"""An adapter reported them."""
SPAN_LINKS: Final = 64
"""Its library has such an allocator; these bytes need not come from it."""
SPAN_MORE: Final = 128
"""Its object has more blocks than those reported."""
