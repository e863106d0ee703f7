"""What the object is: a view of whom, an owner, not computed yet, a mapped file, a table, a container."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from inspector.facts.amounts import size, with_article
from inspector.facts.answers import Answer
from inspector.facts.buffer import CATEGORIES, POINTS_TO, Buffer, Holder
from inspector.facts.layout import Layout
from inspector.facts.namespace import NOT_ASKED
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, ImmortalType, Unknown
from inspector.verdicts.answers.alone import compiled, in_file, in_words, scalar
from inspector.verdicts.answers.blocks import COUNTED_IN_CPP, blocks, of_arrow, table
from inspector.verdicts.answers.existing import gone, mapped, not_computed, virtual, weak
from inspector.verdicts.answers.holding import kept, weight
from inspector.verdicts.answers.index import Grid, part_of
from inspector.verdicts.answers.keeping import is_counted
from inspector.verdicts.answers.kinds import kind
from inspector.verdicts.answers.words import (
    answer,
    code,
    holder_name,
    is_whole,
    known,
    listed,
    number,
    root,
    untold,
)

Facts = Mapping[str, Any]
OVER_BYTES = ("bytes", "bytearray", "mmap.mmap", "memoryview", "SharedMemory")
"""Types whose elements are bytes."""
ALWAYS_OWN = ("bytes", "bytearray", "mmap.mmap")
"""Types of which no object is a view: "owns its bytes" is no answer."""
_FUNCTIONS = ("numpy.ufunc", "numpy._ArrayFunctionDispatcher")
"""Functions of C whose types no Python describes: who asks for one does not ask what it keeps."""


def what(name: str, facts: Facts) -> Iterator[Answer]:
    """One sentence on what the object is, or none where the headline says it all."""
    rules = (
        gone,
        weak,
        _exception,
        _future,
        _frame,
        in_words,
        table,
        not_computed,
        mapped,
        _shared_until_written,
        _pointer,
        _view,
        blocks,
        virtual,
        _all_there,
        _owner,
        _without_buffer,
        _not_told,
        kind,
        weight,
        compiled,
        in_file,
        scalar,
        _opaque,
        of_arrow,
    )
    yield from next((found for rule in rules if (found := tuple(rule(facts)))), ())


def _exception(facts: Facts) -> Iterator[Answer]:
    """What it keeps alive, if that is much, and where it was raised."""
    if "BaseException" in getattr(known(facts, "object"), "type_mro", ()):
        yield from (*weight(facts), *in_words(facts))


def _future(facts: Facts) -> Iterator[Answer]:
    """How a finished one ended, and what it keeps."""
    mro = getattr(known(facts, "object"), "type_mro", ())
    if any(one.endswith((".Future", ".Task")) for one in mro) and known(facts, "contents"):
        said = " ".join(one.text for one in in_words(facts))
        for one in weight(facts):
            yield answer("ended", f"{said} {one.text}", *one.evidence, costs_bytes=one.costs_bytes)


def _frame(facts: Facts) -> Iterator[Answer]:
    """Where it is, and what its variables hold."""
    if getattr(known(facts, "object"), "type_name", "") != "frame":
        return
    said = " ".join(one.text for one in in_words(facts))
    held = kept(facts, " Its variables hold ", ".")
    if said:
        yield answer("state", f"{said}{held}", "materialization.in_words", "contents.bytes")


def same_object(name: str, facts: Facts) -> Iterator[Answer]:
    """Other names for the very object."""
    refs, found = known(facts, "refs"), known(facts, "object")
    if refs is None or found is None or isinstance(refs.references, ImmortalType) or not name.isidentifier():
        return
    if found.type_name in ("int", "float", "str", "bytes", "bool", "complex", "NoneType"):
        return
    if any(known(facts, column) for column in ("type", "module", "builtin")):
        return
    others = tuple(dict.fromkeys(_names(refs.owners, name)))
    if others:
        said = listed(map(code, others[:3]))
        text = f"The same object as {said}."
        yield answer("same-object", text, "refs.owners", about=(name, *others[:3]))


def _names(owners: Any, name: str) -> Iterator[str]:
    """Names of the object in the namespace in which it has the typed name."""
    mine = [one.holder for one in owners if _is_name(one) and one.key == name]
    yield from (one.key for one in owners if _is_name(one) and one.key != name and one.holder in mine)


def _is_name(one: Owner) -> bool:
    return one.kind in ("global", "local") and one.certain and one.key.isidentifier()


def _shared_until_written(facts: Facts) -> Iterator[Answer]:
    """One block that a library shares copy-on-write; a table's columns are rows of their own."""
    fact, buffer = known(facts, "materialization"), known(facts, "buffer")
    if fact is None or buffer is None or fact.state != "copy-on-write pending" or known(facts, "parts"):
        return
    owner = root(buffer)
    if owner is None or not number(buffer.logical_bytes):
        return
    other = owner.shown_by or holder_name(owner)
    if other:
        whole = size(number(buffer.logical_bytes))
        text = f"Shares its {whole} with {code(other)} until one of them is written (copy-on-write)."
        yield answer("shared-until-written", text, "buffer.holders", "materialization.state", about=(other,))


def _view(facts: Facts) -> Iterator[Answer]:
    """A view: of whom, and which part of it."""
    buffer = known(facts, "buffer")
    if buffer is None or buffer.owns is not False:
        return
    base = root(buffer) or untold(buffer)
    if base is None:
        return
    part = "no element of it" if buffer.logical_bytes == 0 else _part(facts, buffer, base)
    name = holder_name(base) or base.shown_by
    if base.shown_by and is_whole(buffer, base):
        yield _same_bytes(buffer, base, f"{part}{_mask(facts)}")
        return
    if not name and is_whole(buffer, base):
        kind = base.type_name.rpartition(".")[2]
        text = f"Has {size(number(base.bytes))}, which lie in an unnamed {kind}, its base{_mask(facts)}."
        yield answer("view-of", text, "buffer.holders", "buffer.range")
        return
    text = f"A view of {_of_whom(base)}{f': {part}' if part else ''}{_mask(facts)}."
    yield answer("view-of", text, "buffer.holders", "layout.strides_bytes", about=(name,))


def _mask(facts: Facts) -> str:
    """The mask of a masked array, which has bytes of its own."""
    fact = known(facts, "materialization")
    layers = fact.layers if fact is not None else ()
    return next((f", and a {layer.what}" for layer in layers if layer.what.startswith("mask of ")), "")


def _same_bytes(buffer: Buffer, base: Holder, part: str) -> Answer:
    """Two objects that show one block whole: neither is the other's base."""
    whole = size(number(base.bytes))
    if "numpy." in base.shown_by_type:
        text = f"Shows the same {whole} as {code(base.shown_by)}{f', {part}' if part else ''}."
    else:
        text = f"A view of {code(base.shown_by)}: all {whole}."
    return answer("view-of", text, "buffer.holders", "buffer.range", about=(base.shown_by,))


def _article(kind: str) -> str:
    return kind if kind == "bytes" else with_article(kind)


def _of_whom(base: Holder) -> str:
    """The base by its name; else by its type and size."""
    if name := holder_name(base) or base.shown_by:
        return code(name)
    kind = base.type_name.rpartition(".")[2]
    return f"{_article(kind)} of {size(number(base.bytes))}" if number(base.bytes) else _article(kind)


def _part(facts: Facts, buffer: Buffer, base: Holder) -> str:
    """Which part of the base it shows: as an index in words, else as bytes."""
    layout = known(facts, "layout")
    if layout is None or isinstance(base.first, Unknown) or isinstance(buffer.range, Unknown):
        return ""
    noun = "byte" if base.type_name.rpartition(".")[2] in OVER_BYTES else "element"
    first = _first(layout, buffer)
    view = Grid(first, layout.shape, layout.strides_bytes, layout.itemsize_bytes)
    said = part_of(view, Grid(base.first, base.shape, base.strides_bytes, base.itemsize_bytes), noun)
    whole, shown = base.itemsize_bytes * prod(base.shape), number(buffer.logical_bytes)
    return said or (f"{size(shown)} of its {size(whole)}" if 0 < shown < whole else "")


def _first(layout: Layout, buffer: Buffer) -> int:
    """Address of the element with all indices 0: negative strides begin at the end."""
    assert not isinstance(buffer.range, Unknown)
    below = sum(
        stride * (n - 1) for n, stride in zip(layout.shape, layout.strides_bytes, strict=True) if stride < 0
    )
    return Address(buffer.range.start - below)


def _owner(facts: Facts) -> Iterator[Answer]:
    buffer, found = known(facts, "buffer"), known(facts, "object")
    if buffer is None or found is None or buffer.owns is not True or not number(buffer.logical_bytes):
        return
    if found.type_name in ALWAYS_OWN or known(facts, "contents"):
        return
    if any(one.protocol == COUNTED_IN_CPP for one in buffer.spoken):
        return
    if number(buffer.sharers):
        yield _sharer(buffer)
        return
    text = f"Owns its {size(buffer.logical_bytes)}."
    if not isinstance(buffer.mapping, Unknown) and buffer.mapping.kind == "shared memory":
        text = f"Maps {size(buffer.logical_bytes)} of shared memory."
    layout = known(facts, "layout")
    if layout is not None and layout.format == "object":
        behind = "the Python objects they point to are extra"
        if is_counted(facts):
            kept = known(facts, "materialization").retained_bytes
            behind = f"with what they point to {size(kept)}"
        text = f"Owns its {size(buffer.logical_bytes)} of pointers; {behind}."
    if layout is not None and layout.format.startswith("StringDType"):
        text = (
            f"Owns its {size(buffer.logical_bytes)}; texts of more than 15 bytes lie beside them,"
            " in memory of NumPy's that nothing tells."
        )
    if (categories := dict(buffer.facts).get(CATEGORIES, "")).isdigit():
        which = f"{int(categories):,} {'category' if categories == '1' else 'categories'}"
        text = f"Owns its {size(buffer.logical_bytes)} of codes for {which}."
    yield answer("owner", text, "buffer.owns", costs_bytes=buffer.logical_bytes)


def _without_buffer(facts: Facts) -> Iterator[Answer]:
    """Bytes that no protocol shows: an open BytesIO, the pixels of an image."""
    fact = known(facts, "materialization")
    if fact is None or fact.state != "owned" or known(facts, "contents"):
        return
    shown = number(getattr(known(facts, "buffer"), "logical_bytes", 0))
    if (total := number(fact.logical_bytes)) and not shown:
        is_seen = any(layer.spans for layer in fact.layers)
        text = f"Owns its {size(total)}." if is_seen else f"Has {size(total)} in C."
        yield answer("owner", text, "materialization.logical_bytes", costs_bytes=total)


def _not_told(facts: Facts) -> Iterator[Answer]:
    """Bytes of which the library does not tell whose they are; a pointer of which nothing is told."""
    buffer, found = known(facts, "buffer"), known(facts, "object")
    if buffer is None or found is None or not isinstance(buffer.owns, Unknown):
        return
    if found.type_name == "PyCapsule":
        text = "A pointer for C code; nothing tells how many bytes it leads to, or whose they are."
        yield answer("capsule", text, "buffer.owns", certain=False)
    elif (total := number(buffer.logical_bytes)) and buffer.shared_with:
        text = f"Shares its {size(total)} with {code(buffer.shared_with)}."
        yield answer("view-of", text, "buffer.shared_with", about=(buffer.shared_with,))
    elif total and buffer.owns != NOT_ASKED:
        text = f"Has {size(total)}; whose they are is not known: {buffer.owns.reason}."
        yield answer("owner-not-told", text, "buffer.owns", certain=False, costs_bytes=total)


def _all_there(facts: Facts) -> Iterator[Answer]:
    """A graph whose blocks all exist already, each an object of its own: dask over ndarrays."""
    fact = known(facts, "materialization")
    if fact is None or fact.state != "shared-foreign":
        return
    blocks = [layer.what for layer in fact.layers if layer.level == "buffer"]
    if fact.layers[0].value == "computed" and blocks and all(one.startswith("block ") for one in blocks):
        count = len(blocks) + fact.layers_left_out
        total = f", {size(number(fact.logical_bytes))}" if number(fact.logical_bytes) else ""
        text = f"Its block exists already{total}."
        if count > 1:
            text = f"Its {count:,} blocks exist already{total}: compute() only joins them."
        yield answer("all-there", text, "materialization.layers")


def _opaque(facts: Facts) -> Iterator[Answer]:
    """An object of C code that no adapter knows: its struct's size says little."""
    fact, found = known(facts, "materialization"), known(facts, "object")
    reason = getattr(getattr(fact, "state", None), "reason", "")
    if found is None or not reason.startswith("opaque") or found.type_name in _FUNCTIONS:
        return
    if known(facts, "contents"):
        return
    if (buffer := known(facts, "buffer")) is not None:
        asks = (way.protocol for way in buffer.spoken if way.exposure == NOT_ASKED)
        ways = ["the buffer protocol" if way == "buffer" else code(way) for way in asks]
        if ways:
            text = f"Its bytes are shown by {listed(ways)}, which runs code of its class: `--ask` calls it."
            yield answer("not-asked", text, "buffer.spoken", certain=False)
        return
    text = f"What it keeps in C is not known: no adapter knows {code(found.type_name)}."
    yield answer("opaque", text, "materialization.state", certain=False)


def _pointer(facts: Facts) -> Iterator[Answer]:
    """A pointer of ctypes: where it leads, and whether it keeps that alive."""
    buffer = known(facts, "buffer")
    where = dict(buffer.facts).get(POINTS_TO, "") if buffer is not None else ""
    if where:
        yield answer("pointer", f"A pointer to {where}.", "buffer.facts")


def _sharer(buffer: Buffer) -> Answer:
    """One of several objects over one block that none of them owns alone."""
    whole, name, count = size(number(buffer.logical_bytes)), buffer.shared_with, number(buffer.sharers)
    others = "another tensor" if count == 1 else f"{count:,} other tensors"
    if name:
        others = code(name) if count == 1 else f"{code(name)} and {count - 1:,} more"
    seen = "the other" if count == 1 else "the others"
    text = f"Shares its {whole} with {others}: a write through one is seen in {seen}."
    return answer("shared-bytes", text, "buffer.sharers", about=(name,), costs_bytes=buffer.logical_bytes)
