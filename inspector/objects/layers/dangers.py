"""Dangers that the layers show for any library, each under its slug (facts/finding.py)."""

# SPDX-License-Identifier: MIT
import os
from collections.abc import Iterator

from inspector import _native
from inspector.facts.finding import Finding, finding
from inspector.facts.memory import Mapping, Range
from inspector.facts.unknown import Unknown
from inspector.objects.layers.stack import Places, Stack

LARGE_BASE = 10
"""A view that keeps more than this many times its own bytes alive is reported."""
LARGE_BASE_BYTES = 100_000
MOST_FILES = 8


def dangers(of: Stack, retained_bytes: int | Unknown) -> Iterator[Finding]:
    """First the dangers that the adapter reports, then those that follow from titles, extents and files."""
    yield from of.told.findings
    said = {found.slug for found in of.told.findings}
    titles = [layer.title for layer in of.layers if layer.spans]
    if any(_native.views_freed(span.start, span.stop) for span in of.spans):
        said.add("borrowed-pointer")
        what = "its storage was freed while it lived: inspector.leaks saw it"
        yield finding("freed-storage", what, do="drop the object; copy its bytes earlier")
    if "borrowed" in titles and not said & {"borrowed-pointer", "unowned-bytes"}:
        yield finding("borrowed-pointer")
    if "cow" in titles and "shared-copy-on-write" not in said:
        yield finding("shared-copy-on-write")
    shown = sum([block.size * block.itemsize_bytes for block in of.blocks])  # layers may be left out
    own = max(sum([span.bytes for span in of.spans]), shown)
    if not isinstance(retained_bytes, Unknown) and _is_large(own, retained_bytes):
        yield finding("large-base", f"{_size(own)} keep {_size(retained_bytes)} alive")
    for span in of.spans[:MOST_FILES]:
        yield from _truncated(span, of.places)


def _is_large(own: int, retained: int) -> bool:
    return bool(own) and retained >= LARGE_BASE_BYTES and retained > LARGE_BASE * own


def _truncated(span: Range, places: Places) -> Iterator[Finding]:
    """A file shorter than its mapping: a read behind its end raises SIGBUS."""
    found = places(span)
    if not isinstance(found, Mapping) or isinstance(found.file, Unknown):
        return
    try:
        size = os.stat(found.file).st_size  # noqa: PTH116 (pathlib would be imported for it)
    except OSError:  # deleted: the mapping keeps the file's blocks
        return
    missing = (
        found.file_offset_bytes
        + span.bytes
        - -(-size // os.sysconf("SC_PAGESIZE")) * os.sysconf("SC_PAGESIZE")
    )
    if missing > 0:
        name = os.path.basename(found.file)  # noqa: PTH119
        yield finding("truncated-file", f"{name} ends {_size(missing)} before the mapping does")


def _size(count: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}" if count < 10 * factor else f"{count / factor:.0f} {unit}"
    return f"{count} B"
