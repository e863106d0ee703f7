"""What a write does: who else sees it, why it is refused, what it copies first."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.buffer import Buffer, Holder
from inspector.facts.parts import Part, Parts
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.copying import copy_of
from inspector.verdicts.answers.words import (
    answer,
    called,
    code,
    holder_name,
    is_whole,
    known,
    library,
    listed,
    number,
    root,
    untold,
)

Facts = Mapping[str, Any]
CONSTANT = ("bytes", "str")
"""Types whose objects never change."""


def writing(name: str, facts: Facts) -> Iterator[Answer]:
    """One sentence on a write, where it does not simply change the object alone."""
    buffer = known(facts, "buffer")
    if buffer is None:
        return
    rules = (_copies_first, _read_only, _changes_file, _changes_base, _changes_sharer, _changes_views)
    some = rules[:1] if _is_pending(facts) else rules
    yield from next((found for rule in some if (found := tuple(rule(name, facts, buffer)))), ())
    yield from _changes_itself(name, facts, buffer)


def _is_pending(facts: Facts) -> bool:
    """Whether the first write copies: it then changes nothing else, whatever shares the bytes now."""
    fact = known(facts, "materialization")
    return fact is not None and fact.state == "copy-on-write pending"


def _overlaps(facts: Facts) -> str:
    """ "broadcast" or "overlapping", where several elements are the same memory; else ""."""
    layout = known(facts, "layout")
    words = layout.words if layout is not None else ()
    return next((word for word in ("broadcast", "overlapping") if word in words), "")


def _changes_itself(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    if buffer.readonly is False and _overlaps(facts):
        text = f"Writing to one element of {called(name)} changes others: they are the same memory."
        yield answer("write-overlaps", text, "buffer.readonly", "layout.words", about=(name,))


def _changes_base(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    base, found = root(buffer), known(facts, "object")
    if found is not None and library(found.type_name) == "Arrow":
        return  # Arrow writes to none of its arrays
    if buffer.owns is not False or buffer.readonly is not False or base is None or buffer.logical_bytes == 0:
        return
    other = holder_name(base) or base.shown_by
    if other:
        text = f"Writing to {called(name)} changes {code(other)}."
        yield answer("write-changes", text, "buffer.readonly", "buffer.holders", about=(name, other))


def _changes_sharer(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    """Blocks that can be written, all of which another named object shows."""
    other, found = buffer.shared_with, known(facts, "object")
    if not other or found is None or buffer.readonly:
        return
    if library(found.type_name) in ("scipy", "xarray"):
        text = f"Writing to {called(name)} changes {code(other)}."
        yield answer("write-changes", text, "buffer.readonly", "buffer.shared_with", about=(name, other))


def _changes_views(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    """An owner, or an array that shows its whole base: the named views of the same bytes."""
    if buffer.readonly is not False:
        return
    base = root(buffer)
    if base is not None:
        named = base.views if is_whole(buffer, base) else ()
    else:
        named = tuple(_views(facts)) if buffer.owns is True else ()
    others = sorted(one for one in named if one != name)
    if others:
        some = [code(one) for one in others[:3]]
        more = [f"{len(others) - 3:,} more"] if len(others) > 3 else []
        noun = "which is a view" if len(others) == 1 else "which are views"
        text = f"Writing to {called(name)} shows in {listed([*some, *more])}, {noun} of the same bytes."
        yield answer("write-changes", text, "buffer.holders", "refs.owners", about=(name, *others[:3]))


def _views(facts: Facts) -> Iterator[str]:
    """Names of the views that hold the object as their base."""
    refs = known(facts, "refs")
    for one in refs.owners if refs is not None else ():
        if one.kind == "base" and one.certain and "`" in one.holder and one.key in (".base", ".obj"):
            yield one.short.removesuffix(one.key)


def _read_only(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    """A view that cannot be written: why, and how to get one that can."""
    base = root(buffer) or untold(buffer)
    if (
        buffer.readonly is not True
        or buffer.owns is not False
        or buffer.logical_bytes == 0
        or known(facts, "parts")
    ):
        return
    why, do = _why(name, facts, buffer, base)
    if not why:
        return
    cure = f"; {code(do)} gives a writable copy" if do else ""
    text = f"Read-only because {why}{cure}."
    other = holder_name(base) or base.shown_by if base is not None else ""
    yield answer("read-only", text, "buffer.readonly", "buffer.holders", about=(name, other), do=do)


def _why(name: str, facts: Facts, buffer: Buffer, base: Holder | None) -> tuple[str, str]:
    """(why a view is read-only, the code for a writable copy); ("", "") where the facts do not tell."""
    own = copy_of(name, facts).replace("bytes(", "bytearray(")
    if base is None:
        return "", ""
    bare = base.type_name.rpartition(".")[2]
    if base.shown_by and library(base.shown_by_type) == "pandas" and base.readonly is False:
        return "pandas shares it (copy-on-write)", f"{base.shown_by}.to_numpy(copy=True)"
    if bare in CONSTANT:
        return (
            f"{code(holder_name(base)) if holder_name(base) else 'its base'} is {bare}, which never change",
            own,
        )
    if bare == "ArrayImpl":
        return "JAX's arrays never change", own
    if library(base.shown_by_type or base.type_name) == "Arrow":
        return "Arrow's buffers never change", own
    if base.readonly is True and holder_name(base):
        return f"{code(holder_name(base))} is", own
    if how := _overlaps(facts):
        return f"several of its elements are the same memory ({how})", own
    if not isinstance(buffer.mapping, Unknown) and "w" not in buffer.mapping.permissions:
        return "its file is mapped for reading only", own
    return "", ""


def _changes_file(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    """Bytes of a mapped file or of memory that other processes share."""
    if isinstance(buffer.mapping, Unknown):
        return
    place, file = buffer.mapping, buffer.mapping.file
    if buffer.readonly is True and "w" not in place.permissions and not isinstance(file, Unknown):
        text = f"Read-only: the file {code(file.rpartition('/')[2])} is mapped for reading only."
        yield answer("read-only", text, "buffer.readonly", "buffer.mapping", about=(name,))
        return
    if buffer.readonly is not False:
        return
    if place.kind == "shared memory":
        text = f"Writing to {called(name)} changes shared memory: other processes that map it see it."
        yield answer("write-changes", text, "buffer.mapping", about=(name,))
    elif place.kind == "shared file" and not isinstance(file, Unknown):
        text = f"Writing to {called(name)} changes the file {code(file.rpartition('/')[2])}."
        yield answer("write-changes", text, "buffer.mapping", about=(name,))
    elif place.kind == "file" and not isinstance(file, Unknown) and "p" in place.permissions:
        text = f"Writing to {called(name)} leaves the file as it is: only this process sees the change."
        yield answer("write-stays", text, "buffer.mapping", about=(name,))


def _copies_first(name: str, facts: Facts, buffer: Buffer) -> Iterator[Answer]:
    """Copy-on-write: what the first write copies, and that the others keep the old values."""
    parts = known(facts, "parts")
    if not _is_pending(facts):
        return
    if parts is not None:
        yield from _copies_block(name, parts, buffer)
        return
    base = root(buffer)
    other = (base.shown_by or holder_name(base)) if base is not None else ""
    keeps = f"; {code(other)} keeps the old values" if other else ""
    if cost := number(buffer.logical_bytes):
        way = "" if other else " (copy-on-write)"
        text = f"The first write copies {size(cost)}{way}{keeps}."
        yield answer("write-copies", text, "materialization.state", about=(name, other), costs_bytes=cost)


def _copies_block(name: str, parts: Parts, buffer: Buffer) -> Iterator[Answer]:
    """A table: a write copies the block of the column that it is made to, never all blocks."""
    shared = [part for part in parts.parts if number(part.holders) > 1]
    blocks: dict[int, int] = {}
    for part in shared:
        blocks[part.block] = blocks.get(part.block, 0) + number(part.bytes)
    if not shared or not any(blocks.values()):
        return
    tables = dict.fromkeys(holder.shown_by.partition("[")[0] for holder in buffer.holders if holder.shown_by)
    others = [table for table in tables if table != name]
    if others:
        first = f"Shares columns with {listed(map(code, others[:3]))} until they are written"
    else:
        first = f"The data of {_which(shared, parts)} is shared until it is written"
    whole = len(parts.parts) == parts.total
    most = max(blocks.values()) if whole else 0
    copied = f"at most {size(most)}" if whole else "the block that the column is in"
    text = f"{first}: the first write to one copies {copied}."
    about = (name, *others[:3])
    yield answer("write-copies", text, "parts.holders", "buffer.holders", about=about, costs_bytes=most)


def _which(shared: list[Part], parts: Parts) -> str:
    """The shared columns in words: those that were looked at, where not all were."""
    if len(parts.parts) < parts.total:
        some = f"{len(shared):,} of " if len(shared) < len(parts.parts) else ""
        return f"{some}the {len(parts.parts):,} columns looked at"
    return "every column" if len(shared) == parts.total else _columns([part.name for part in shared])


def _columns(names: list[str]) -> str:
    if len(names) > 3:
        return f"{len(names):,} columns"
    return ", ".join(map(code, names))
