"""Objects that the adapter `PIL_images` is tried on."""

# SPDX-License-Identifier: MIT
import io

from PIL import Image


def samples():
    """Made, opened, loaded, over a buffer of another; a closed one keeps the frames of whoever asks it."""
    written = io.BytesIO()
    Image.new("RGB", (40, 30)).save(written, "png")
    opened, loaded = (Image.open(io.BytesIO(written.getvalue())) for _ in range(2))
    loaded.load()
    yield from (opened, loaded, Image.new("L", (4, 3)), Image.new("L", (0, 0)), Image.Image())
    yield Image.frombuffer("L", (4, 3), bytearray(12), "raw", "L", 0, 1)
