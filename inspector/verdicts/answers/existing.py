"""Whether the elements exist: used up, not computed yet, in a mapped file, made when asked for."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.materialization import Materialization, Residency
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.holding import kept
from inspector.verdicts.answers.words import LEAST_KEPT_BYTES, answer, code, known, number

Facts = Mapping[str, Any]
_CALLS = {"next()": "Makes its items one by one, when `next()` asks for them.", "a call": ""}
"""What lazy objects of Python wait for -> the sentence; "" where it is not worth one."""
_RUNS = ("generator", "coroutine", "async_generator")
"""Types that let go at their end of what they keep, as do the iterators of containers; `zip` does not."""
_FUTURES = (("lazy", "result()"), ("pending", "result()"), ("pending", "await"))
"""Futures without a result by what they wait for: that somebody computes it is not known."""


def gone(facts: Facts) -> Iterator[Answer]:
    """Used up, closed, or freed."""
    state = getattr(known(facts, "materialization"), "state", None)
    words = {
        "consumed": "Used up: nothing more comes out of it.",
        "closed": "Closed: what it held can no longer be read.",
        "freed": "Its bytes were freed: reading them is a crash or another's bytes.",
    }
    found = known(facts, "object")
    if state == "freed" and found is not None and found.type_name.startswith("weakref."):
        words["freed"] = "The object that it referred to is gone."
    is_node = known(facts, "autograd") is not None  # what backward() freed has a sentence of its own
    if isinstance(state, str) and state in words and not is_node:
        yield answer(state, words[state], "materialization.state")


def weak(facts: Facts) -> Iterator[Answer]:
    """A weak reference whose object lives."""
    fact, found = known(facts, "materialization"), known(facts, "object")
    if fact is not None and found is not None and found.type_name.startswith("weakref."):
        _, _, what = fact.layers[0].what.partition(" to ")
        if what:
            yield answer("weak", f"Refers to {what} and does not keep it alive.", "materialization.layers")


def not_computed(facts: Facts) -> Iterator[Answer]:
    """Lazy, pending or partly there: what it waits for, and what it keeps until then."""
    fact = known(facts, "materialization")
    if fact is None or isinstance(fact.state, Unknown):
        return
    if fact.state == "lazy" and fact.waits_for in _CALLS:
        if said := _CALLS[fact.waits_for]:
            kind = getattr(known(facts, "object"), "type_name", "")
            lets_go = kind in _RUNS or kind.endswith("iterator")
            until = kept(facts, " Until it ends it keeps " if lets_go else " It keeps ", ".")
            yield answer("lazy", f"{said}{until}", "materialization.state", "contents.bytes")
        return
    if fact.state == "partially materialized" and fact.waits_for == "a call":
        results = counted(int(fact.layers[0].evidence[0].says), "result")
        text = f"Keeps {results} of earlier calls{kept(facts, ', ')}."
        yield answer("cache", text, "materialization.layers", "contents.bytes")
        return
    if (fact.state, fact.waits_for) in _FUTURES:
        text = f"Has no result yet; {code(fact.waits_for)} waits for it."
        yield answer("no-result", text, "materialization.state")
        return
    later = number(fact.logical_bytes)
    if fact.state == "lazy" and not later and not fact.waits_for:
        return
    once = f": {size(later)} once it is" if later else ""
    waits = f"; it waits for {fact.waits_for}" if fact.waits_for else ""
    texts = {
        "lazy": f"Not computed yet{once}{waits}.{_kept_for_it(facts, later)}",
        "pending": f"Being computed{waits}.",
        "partially materialized": f"Only a part is computed{_of_blocks(facts)}.",
        "abstract": "Has no elements and never will: it only describes them.",
        "reserved-not-resident": f"{size(later)} are reserved; {_in_memory(fact)}",
        "zero-page": f"All zeros: its {size(later)} take no memory until they are written.",
        "on device": f"Its {size(later)} are on a device." if later else "Its data is on a device.",
    }
    if fact.state in texts:
        yield answer(
            fact.state.replace(" ", "-"), texts[fact.state], "materialization.state", costs_bytes=later
        )


def _kept_for_it(facts: Facts, later: int) -> str:
    """What a lazy object or a coroutine keeps until it is computed, if that is worth a sentence."""
    whole = number(known(facts, "materialization").retained_bytes)
    if whole < LEAST_KEPT_BYTES:
        return kept(facts, " Until it ends it keeps ", ".")
    more = f", {whole / later:.1f} times as much" if 0 < later < whole else ""
    return f" Until then it keeps {size(whole)}{more}."


def _of_blocks(facts: Facts) -> str:
    lazy = known(facts, "lazy")
    return f": {lazy.stack[0].blocks_done:,} of {lazy.stack[0].blocks:,} blocks" if lazy else ""


def _in_memory(fact: Materialization) -> str:
    there = number(fact.resident_bytes)
    return f"{size(there)} of them are in memory." if there else "none of them is in memory yet."


def mapped(facts: Facts) -> Iterator[Answer]:
    """Bytes of a file: how many of its pages this process has; the kernel may have more in its cache."""
    fact, buffer = known(facts, "materialization"), known(facts, "buffer")
    if fact is None or buffer is None or fact.state != "memory-mapped" or isinstance(buffer.mapping, Unknown):
        return
    pages = fact.layers[-1].residency
    if isinstance(buffer.mapping.file, Unknown) or not isinstance(pages, Residency):
        return
    file = code(buffer.mapping.file.rpartition("/")[2])
    whole = -(-pages.span_bytes // pages.page_bytes)
    there = -(-pages.resident_bytes // pages.page_bytes)
    total = size(number(buffer.logical_bytes))
    text = f"This process has read {there:,} of {counted(whole, 'page')}; the rest is in the file {file}."
    if there == whole:
        text = f"The {total} are those of the file {file}, all read by this process."
    elif not there:
        text = f"The {total} are in the file {file}; this process has read none of them yet."
    yield answer(
        "mapped-file", text, "buffer.mapping", "materialization.layers", costs_bytes=pages.span_bytes
    )


def virtual(facts: Facts) -> Iterator[Answer]:
    """A range: its items follow from a rule. What keeps some of its elements, as a sparse matrix, is none."""
    fact = known(facts, "materialization")
    if fact is None or fact.state != "virtual":
        return
    if not any(layer.level == "buffer" for layer in fact.layers):
        text = "Keeps none of its items: each is made when it is asked for."
        yield answer("virtual", text, "materialization.state")
