"""What a module or an optimizer weighs, what is tied, mixed, frozen, on meta or not made yet."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer
from inspector.facts.model import Model
from inspector.verdicts.answers.words import answer, code, known, listed

Facts = Mapping[str, Any]
MOST_NAMED = 3


def model(name: str, facts: Facts) -> Iterator[Answer]:
    """Bytes first; then what a reader would not expect."""
    found: Model | None = known(facts, "model")
    if found is None:
        return
    text = _weight(found) if not found.meta_bytes else _on_meta(found)
    yield answer("model", text, "model.parameters", "model.parameter_bytes", costs_bytes=found.bytes)
    for group in found.shared[:1]:
        more = f"; {counted(len(found.shared) - 1, 'more such group')}" if len(found.shared) > 1 else ""
        names = [code(one) for one in group[:MOST_NAMED]]
        rest = [f"{len(group) - MOST_NAMED:,} more"] if len(group) > MOST_NAMED else []
        text = f"{listed([*names, *rest])} share one storage, counted once{more}."
        yield answer("tied", text, "model.shared", about=group[:MOST_NAMED])
    if len(found.kinds) > 1:
        each = listed([f"{kind} {size(bytes_)}" for kind, bytes_ in found.kinds[:MOST_NAMED]])
        yield answer("mixed", f"Mixed: {each}.", "model.kinds")
    if found.pending:
        text = f"{counted(found.pending, 'tensor')} without a shape until the first forward()."
        yield answer("pending", text, "model.pending")
    if found.trainable < found.parameters and not found.is_optimizer:
        still = found.parameters - found.trainable
        text = f"{still:,} of its numbers are frozen (requires_grad=False)."
        yield answer("frozen", text, "model.trainable")


def _weight(found: Model) -> str:
    """All bytes by what they are for."""
    head = f"{counted(found.parameters, 'parameter')}, {size(found.parameter_bytes)}"
    more = (
        (found.buffer_bytes, "buffers"),
        (found.gradient_bytes, "gradients"),
        (found.state_bytes, "state"),
    )
    said = [f"{size(bytes_)} of {word}" for bytes_, word in more if bytes_]
    if found.is_optimizer and not found.state_bytes:
        return f"No state yet, the first step() makes it, for {head}."
    whole = f": {size(found.bytes)} in all" if said else ""
    return f"{head}{f', with {listed(said)}' if said else ''}{whole}."


def _on_meta(found: Model) -> str:
    there = f"; {size(found.bytes)} are there" if found.bytes else ""
    return (
        f"On the meta device: {counted(found.parameters, 'parameter')} have shapes and no bytes, and would "
        f"take {size(found.meta_bytes)}{there}."
    )
