"""What a result keeps for backward(), and what to write where nobody calls it."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.autograd import Autograd
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, called, code, known, number

Facts = Mapping[str, Any]


def graph(name: str, facts: Facts) -> Iterator[Answer]:
    """One sentence on the graph behind a tensor, a node, or the tensors of a container."""
    found: Autograd | None = known(facts, "autograd")
    if found is None:
        return
    evidence = ("autograd.nodes", "autograd.saved_bytes", "autograd.retained_bytes")
    state = getattr(known(facts, "materialization"), "state", "")
    if (found.freed or state == "freed") and not found.saved:
        yield answer("graph-freed", _freed(found), "autograd.freed")
        return
    why = next((one for one in (found.nodes, found.saved_bytes) if isinstance(one, Unknown)), None)
    if why is not None and isinstance(found.nodes, int) and isinstance(found.retained_bytes, int):
        text = (
            f"{_keeps(found, facts)}: {counted(found.nodes, 'node')}; hooks packed what they saved; "
            f"deleting it frees {size(found.retained_bytes)}{_lost(found)}."
        )
        yield answer("keeps-graph", text, *evidence, about=(name,), costs_bytes=found.retained_bytes)
        return
    if why is not None:
        text = f"{_keeps(found, facts)}; how many bytes that keeps is not known: {why.reason}."
        yield answer("keeps-graph", text, *evidence)
        return
    do = _instead(name, found, facts)
    cure = f"; {do}" if do and found.saved_bytes else ""
    text = f"{_keeps(found, facts)}: {counted(number(found.nodes), 'node')}, {_saved(found)}{cure}."
    yield answer("keeps-graph", text, *evidence, about=(name,), do=do, costs_bytes=number(found.saved_bytes))


def _lost(found: Autograd) -> str:
    never = found.never_freed_bytes
    if isinstance(never, Unknown) or not never:
        return ""
    return f"; {size(never)} are never freed, because a packed tensor leads back to the graph"


def _freed(found: Autograd) -> str:
    whose = "Its graph was" if found.results == 1 else "Their graphs were"
    return (
        f"{whose} used: backward() freed what {_nodes(found)} had saved, and a second one "
        "raises; `backward(retain_graph=True)` keeps it."
    )


def _nodes(found: Autograd) -> str:
    return counted(found.freed, "node") if found.freed else "it"


def _keeps(found: Autograd, facts: Facts) -> str:
    held = known(facts, "contents")
    if held is not None:
        return f"{counted(found.results, 'tensor')} in it keep{'s' * (found.results == 1)} a graph"
    return "Keeps its graph" if "buffer" in facts and known(facts, "layout") else "A node of a graph"


def _saved(found: Autograd) -> str:
    saved, kept = number(found.saved_bytes), found.retained_bytes
    if not saved:
        return "only parameters saved in it" if found.saved else "nothing saved in it now"
    if lost := _lost(found):
        return f"{size(saved)} of saved activations{lost}"
    is_less = not isinstance(kept, Unknown) and kept < 0.95 * saved
    only = f", {size(number(kept))} of which nothing else keeps" if is_less else ""
    return f"{size(saved)} of saved activations{only}"


def _instead(name: str, found: Autograd, facts: Facts) -> str:
    """The code that gives the value without the graph."""
    if known(facts, "contents") is None and known(facts, "layout") is None:
        return ""
    x = name if known(facts, "contents") is None and called(name) != "it" else ""
    detached = code(f"{x}.detach()")
    return f"{detached} or {code(f'{x}.item()')} keeps none" if found.scalars else f"{detached} keeps none"
