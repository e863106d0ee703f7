"""Dangers, each with the slug of its section in docs/messages.md."""

# SPDX-License-Identifier: MIT
from typing import Final

from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One danger: what was found, why it is dangerous, what to do."""

    slug: str
    what: str
    """What was found on this object, with numbers: "96 B keep 800 kB alive"."""
    why: str
    do: str
    certain: bool = True
    """False if the evidence allows another explanation."""

    @property
    def page(self) -> str:
        """The page and section that explain it."""
        return f"docs/messages.md#{self.slug}"


KINDS: Final = (
    Finding(
        slug="borrowed-pointer",
        what="it does not keep its bytes alive",
        why="it holds an address without an owner: when the memory is freed, a read gives another's bytes",
        do="copy the bytes while their owner lives",
    ),
    Finding(
        slug="unowned-bytes",
        what="nobody frees these bytes",
        why="the object does not own them, and no base covers their address: they leak with every conversion",
        do="report it to the library that made the object",
    ),
    Finding(
        slug="freed-storage",
        what="the bytes are gone",
        why="the storage was freed or shrunk under the object: reading it is a crash or another's bytes",
        do="drop the object, or resize its storage",
    ),
    Finding(
        slug="large-base",
        what="a small view keeps a large base alive",
        why="a view holds its whole base, however few of its bytes it shows",
        do="x.copy() frees it",
    ),
    Finding(
        slug="truncated-file",
        what="the file is shorter than its mapping",
        why="the file was cut after it was mapped: reading behind its end is a SIGBUS that ends the process",
        do="drop the object and map the file again",
    ),
    Finding(
        slug="unnoticed-write",
        what="a write through one holder is not noticed by the other",
        why="two libraries hold the same bytes, and the bookkeeping of one does not see a write by the other",
        do="copy for one of them, or write through one only",
    ),
    Finding(
        slug="pending-write-back",
        what="the source still has the old values",
        why="what is written here reaches the source only when the copy is resolved",
        do="leave the `with` block, or close() the iterator",
    ),
    Finding(
        slug="shared-copy-on-write",
        what="the first write copies",
        why="several holders share the bytes until one of them writes",
        do="expect the copy, or drop the other holder before writing",
    ),
)
"""The kinds of danger, with texts that fit most objects."""

_BY_SLUG: Final = {kind.slug: kind for kind in KINDS}


def finding(slug: str, what: str = "", *, why: str = "", do: str = "", certain: bool = True) -> Finding:
    """A danger of the kind `slug` (KINDS); texts that are passed replace those of the kind."""
    kind = _BY_SLUG[slug]
    return Finding(slug, what or kind.what, why or kind.why, do or kind.do, certain)
