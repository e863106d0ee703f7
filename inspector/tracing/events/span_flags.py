"""The flags of a span as native/objects/spans.h numbers them: what is known of the bytes that a record tells of."""

from typing import Final

SPAN_C: Final = 1
SPAN_F: Final = 2
SPAN_READONLY: Final = 4
SPAN_OWNED: Final = 8
"""Its object frees the bytes."""
SPAN_LINKED: Final = 16
"""They come from an allocator linked into its library, which no hook sees."""
SPAN_TOLD: Final = 32
"""An adapter told of them."""
SPAN_LINKS: Final = 64
"""Its library has such an allocator, whether or not these bytes come from it."""
SPAN_MORE: Final = 128
"""Its object has more blocks than those that are told."""
