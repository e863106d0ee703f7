"""What the object keeps alive, and who keeps it."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from inspector.facts.amounts import counted, size, with_article
from inspector.facts.answers import Answer
from inspector.facts.buffer import CATEGORIES
from inspector.facts.materialization import OBJECTS, KeptPart
from inspector.facts.refs import LAST_RESULT, Owner, Scan
from inspector.facts.unknown import ImmortalType, Unknown
from inspector.verdicts.answers.copying import copy_of
from inspector.verdicts.answers.words import (
    LEAST_KEPT_BYTES,
    answer,
    called,
    code,
    few,
    holder_name,
    known,
    listed,
    number,
    root,
)

Facts = Mapping[str, Any]
PARTS: Final = {
    OBJECTS: ("a Python object", "Python objects"),
    "numpy.ndarray": ("another array", "other arrays"),
    "hash table of pandas": ("a hash table of pandas", "a hash table of pandas"),
    "torch storage": ("a storage of PyTorch", "storages of PyTorch"),
    "Arrow object in C++": ("a buffer of Arrow", "buffers of Arrow"),
}
"""What is kept besides: its words for one, and for several."""
MOST_NAMED = 3
LEAST_MORE_BYTES = 65_536
"""Of less that an array keeps besides what it shows nothing is said."""
PICKLED_WHOLE = ("Tensor", "Parameter")
"""Bases in PyTorch that pickle writes with each view of them; of an array's view it writes the elements."""


def keeping(name: str, facts: Facts) -> Iterator[Answer]:
    """Bytes of a base that live as long as the object does, against the bytes of the object itself."""
    buffer = known(facts, "buffer")
    base = root(buffer) if buffer is not None else None
    if buffer is not None and (base is None or isinstance(buffer.range, Unknown)):  # several blocks
        yield from _larger_buffers(name, number(buffer.logical_bytes), facts)
        return
    if base is None or buffer is None or isinstance(buffer.owns, Unknown):
        return
    own, whole = number(buffer.logical_bytes), number(base.bytes)
    if not is_much(own, whole, facts):
        return
    other = holder_name(base) or (base.shown_by if "numpy." in base.shown_by_type else "")
    kind = base.type_name.rpartition(".")[2]
    of = f"all {size(whole)} of {code(other)}" if other else f"all {size(whole)} of that {kind}"
    copy = copy_of(name, facts)
    all_kept = _more_than(whole, facts)
    has_index = all_kept and known(facts, "object").type_name.startswith("pandas.")  # a copy keeps it too
    instead = f"; {code(copy)} would keep {size(own)}" if copy and not has_index else ""
    is_pickled = getattr(known(facts, "object"), "type_name", "") == "torch.Tensor" and kind in PICKLED_WHOLE
    pickled = ", and pickle writes all of it" if is_pickled else ""
    more = f", {size(all_kept)} in all" if all_kept else ""
    text = f"While {called(name)} lives, {of} stay{more}{pickled}{instead}."
    yield answer(
        "keeps-base",
        text,
        "buffer.holders",
        "buffer.logical_bytes",
        about=(name, other),
        do=copy,
        costs_bytes=max(whole, all_kept),
    )


def _more_than(base: int, facts: Facts) -> int:
    """What it keeps in all, where that is much more than its base: objects, an index; else 0."""
    fact = known(facts, "materialization")
    whole = number(fact.retained_bytes) if fact is not None and fact.mostly else 0
    return whole if whole >= base + LEAST_MORE_BYTES and whole >= 1.1 * base else 0


def categories(name: str, facts: Facts) -> Iterator[Answer]:
    """A column of fewer values than categories: a part of a longer one, which keeps them all."""
    buffer, layout = known(facts, "buffer"), known(facts, "layout")
    many = int(dict(buffer.facts).get(CATEGORIES, 0)) if buffer is not None else 0
    if layout is None or len(layout.shape) != 1 or many <= layout.shape[0]:
        return
    is_series = known(facts, "object").type_name.endswith(".Series")
    do = f"{name}{'.cat' if is_series else ''}.remove_unused_categories()"
    values = counted(layout.shape[0], "value")
    text = f"Keeps all {many:,} categories for its {values}: {code(do)} drops the others."
    yield answer("keeps-categories", text, "buffer.facts", about=(name,), do=do)


def _larger_buffers(name: str, own: int, facts: Facts) -> Iterator[Answer]:
    """A slice of buffers that are no objects of Python: Arrow's."""
    fact = known(facts, "materialization")
    whole = number(fact.retained_bytes) if fact is not None else 0
    counts_graph = known(facts, "autograd") is not None
    if not own or counts_graph or not is_much(own, whole, facts):
        return
    if fact.mostly:  # what it owns, and more
        yield from in_all(facts)
        return
    text = f"While {called(name)} lives, all {size(whole)} of its buffers stay; it shows {size(own)} of them."
    yield answer("keeps-buffer", text, "materialization.retained_bytes", about=(name,), costs_bytes=whole)


def in_all(facts: Facts) -> Iterator[Answer]:
    """What an array or a table keeps, where that is more than it shows: objects, an index, a hash table."""
    buffer, fact = known(facts, "buffer"), known(facts, "materialization")
    if (
        buffer is None
        or fact is None
        or any(known(facts, one) is not None for one in ("contents", "autograd"))
    ):
        return
    if fact.waits_for or is_counted(facts):  # what it keeps until then, or besides, is told
        return
    base, whole = root(buffer), number(fact.retained_bytes)
    shown = max(number(buffer.logical_bytes), number(base.bytes) if base is not None else 0)
    if whole - shown >= LEAST_MORE_BYTES and whole >= 1.1 * shown and not _is_in_file(facts):
        yield _in_all(whole, facts)


def _in_all(whole: int, facts: Facts) -> Answer:
    """What it keeps, and what most of that is which it does not show."""
    parts = known(facts, "materialization").mostly
    inside = f", {size(parts[0].bytes)} of it in {_part(parts[0], facts)}" if parts else ""
    evidence = ("materialization.retained_bytes", *(["materialization.mostly"] if parts else []))
    return answer("keeps-all", f"Keeps {size(whole)} in all{inside}.", *evidence, costs_bytes=whole)


def _part(part: KeptPart, facts: Facts) -> str:
    """What most of the kept bytes are, in words."""
    name, many = part.what.rpartition(".")[2], part.count > 1
    if part.what in PARTS:
        return PARTS[part.what][many]
    if "." not in part.what and part.what.islower():  # its adapter's word
        return f"its {part.what}"
    if name.endswith("Index"):
        found = known(facts, "object")
        return "its index" if found is not None and found.type_name.startswith("pandas.") else "an index"
    return f"{part.count:,} of {name}" if many else with_article(name)


def is_counted(facts: Facts) -> bool:
    """Whether it owns an array of pointers, and what they point to was counted: one sentence says both."""
    buffer, layout, fact = (known(facts, one) for one in ("buffer", "layout", "materialization"))
    owns = buffer is not None and buffer.owns is True and layout is not None and layout.format == "object"
    return bool(owns and fact is not None and fact.mostly)


def is_much(own: int, whole: int, facts: Facts) -> bool:
    """Whether what is kept besides the own bytes is worth a sentence."""
    return whole - own >= LEAST_KEPT_BYTES and whole >= 1.5 * own and not _is_in_file(facts)


def _is_in_file(facts: Facts) -> bool:
    fact = known(facts, "materialization")
    return fact is not None and fact.state == "memory-mapped"


def history(name: str, facts: Facts) -> Iterator[Answer]:
    """IPython's history and tracebacks hold the object beyond its names."""
    refs = known(facts, "refs")
    owners = [one for one in refs.owners if one.certain] if refs is not None else []
    if refs is None or isinstance(refs.references, ImmortalType):
        return
    kept = [one.short for one in owners if one.kind == "history" and one.holder != LAST_RESULT]
    last = dict.fromkeys((one for one in kept if not one.strip("_")), 0)
    if kept and name not in kept and (last or not isinstance(refs.owners.scan, Scan)):
        said = listed(map(code, dict.fromkeys(kept[:3])))
        then = f" and then {code(f'get_ipython().push({last}, False)')} let" if last else " lets"
        text = f"IPython's history holds it too, as {said}: `%reset out`{then} it go."
        yield answer("history", text, "refs.owners", about=tuple(kept[:3]), do="%reset out")
    frames = [one for one in owners if one.kind == "traceback local"]
    if frames and not isinstance(refs.owners.scan, Scan):
        first = frames[0]
        text = f"A traceback holds it: it is {code(first.key)} in a {first.holder}."
        yield answer("traceback", text, "refs.owners", about=(first.key,))


def searched(name: str, facts: Facts) -> Iterator[Answer]:
    """After a search of memory: how many hold the object, which can be typed, what the others are."""
    refs = known(facts, "refs")
    if refs is None or not isinstance(refs.owners.scan, Scan) or isinstance(refs.references, ImmortalType):
        return
    owners, evidence = refs.owners, ("refs.owners", "refs.owners.native", "refs.owners.unstored")
    if not owners.references or isinstance(owners.native, Unknown) or isinstance(owners.unstored, Unknown):
        return
    certain = [one for one in owners.holders if one.certain]
    typed = [one.path for one in certain if one.path]
    others = list(_others([one for one in certain if not one.path]))
    if owners.native:
        others.append(f"{_are(owners.native)} C code that does not name it")
    if owners.unstored:
        others.append(f"{_are(owners.unstored)} stored nowhere readable: leaked, in a register, or encoded")
    many = len(certain) + owners.native + owners.unstored
    if many:
        amount = number(getattr(known(facts, "buffer"), "logical_bytes", 0))
        it = f"these {size(amount)}" if amount >= LEAST_KEPT_BYTES else "it"
        keep = f"{counted(many, 'holder')} {'keeps' if many == 1 else 'keep'}"
        text = f"{keep} {it} alive{_reach(typed, others)}."
        yield answer("holders", text, *evidence, about=tuple(typed[:MOST_NAMED]), costs_bytes=amount)


def _reach(typed: list[str], others: list[str]) -> str:
    """What can be typed, and what the others are."""
    if not others:
        return f": {listed(map(code, typed), MOST_NAMED)}"
    reached = listed(map(code, typed), MOST_NAMED) if typed else ""
    can = (
        f" {few(len(typed)).capitalize()} you can reach: {reached};" if typed else " No path to it is known:"
    )
    return f".{can} {listed(others[:MOST_NAMED])}"


def _others(owners: Iterable[Owner]) -> Iterator[str]:
    """Certain owners without a path, by their kind: "one is a list"."""
    kinds: dict[str, int] = {}
    for one in owners:
        kind = one.holder.partition(",")[0].partition(" (")[0].strip("<>")
        if one.kind == "traceback local":
            kind = kind.replace("frame of", "a traceback, through")
        kinds[kind] = kinds.get(kind, 0) + 1
    for kind, count in kinds.items():
        a = "" if " " in kind else "an " if kind[:1] in "aeiou" else "a "
        yield f"one is {a}{kind}" if count == 1 else f"{few(count)} are {kind if ' ' in kind else kind + 's'}"


def _are(count: int) -> str:
    return "one is" if count == 1 else f"{few(count)} are"


def exports(facts: Facts) -> Iterator[Answer]:
    """Who holds a buffer of the object, which then cannot change its size."""
    buffer, found, refs = known(facts, "buffer"), known(facts, "object"), known(facts, "refs")
    held = getattr(buffer, "exports", 0)
    if type(held) is not int or not held or found is None:
        return
    stop = "being resized or closed" if found.type_name == "mmap.mmap" else "growing"
    stop = f"{'stops' if held == 1 else 'stop'} it from {stop}"
    named = [one for one in refs.owners if one.kind == "base" and one.path] if refs is not None else []
    release = all(one.do.endswith(".release()") for one in named)
    noun, do = ("memoryview", "`.release()`") if named and release else ("consumer", "delete")
    who = f": {listed(code(one.path) for one in named[:MOST_NAMED])}" if named else ""
    of = " of its buffer" if noun == "consumer" else ""
    left = max(held - len(named), 0)
    cure = f"; {do} {'it' if held == 1 else 'them'}" if named and not left else ""
    if not named and not isinstance(getattr(getattr(refs, "owners", None), "scan", None), Scan):
        cure = f"; `--owners` names {'it' if held == 1 else 'them'}"
    text = f"{counted(held, noun)}{of} {stop}{who}{cure}."
    yield answer("exports", text, "buffer.exports", "refs.owners", about=tuple(one.path for one in named))
