"""Draws a module or an optimizer: a row a part, and a bar for what its bytes are for."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import counted, size
from inspector.facts.model import Model, ModelPart
from inspector.views.grammar import Block, Fold, Line, Picture, Span, Table, text
from inspector.views.view import blocks

_CELLS = 40
_SHOWN = 12


@blocks.register
def model(fact: Model) -> tuple[Block, ...]:
    """A table of parts, then parameters, buffers, gradients and state in proportion."""
    noun = "parameter" if fact.is_optimizer else "module"
    many = len(fact.parts) + fact.parts_left_out
    title = "largest first" if fact.is_optimizer else "each storage where it is first met"
    line = Line(
        "tensors" if fact.is_optimizer else "modules",
        text(counted(many, noun)),
        text(title, "dim"),
        explain="Its tensors: bytes of parameters and buffers, of gradients, of the optimizer's state.",
        link="docs/reference/card.md#model",
    )
    rows = tuple(_row(part) for part in fact.parts)
    if fact.parts_left_out:
        rows += ((text(f"… {counted(fact.parts_left_out, noun)} more", "dim"),),)
    table = Table(("", "", "", "", "", ""), rows, (3, 4, 5))
    shown = _SHOWN + bool(fact.parts_left_out)  # else the terminal counts the row that counts them
    return (Fold(line, (table,), shown), *_bar(fact)) if rows else _bar(fact)


def _row(part: ModelPart) -> tuple[tuple[Span, ...], ...]:
    return (
        text(part.path or "itself", "code"),
        text(part.type_name),
        text(part.what, "dim"),
        text(size(part.bytes)),
        text(f"grad {size(part.gradient_bytes)}" if part.gradient_bytes else ""),
        text(f"state {size(part.state_bytes)}" if part.state_bytes else ""),
    )


def _bar(fact: Model) -> tuple[Block, ...]:
    amounts = (
        ("parameters", fact.parameter_bytes, "█"),
        ("buffers", fact.buffer_bytes, "▒"),
        ("gradients", fact.gradient_bytes, "▓"),
        ("state", fact.state_bytes, "░"),
    )
    there = [(word, bytes_, cell) for word, bytes_, cell in amounts if bytes_]
    if len(there) < 2:
        return ()
    cells = [
        (word, bytes_, cell * max(round(_CELLS * bytes_ / fact.bytes), 1)) for word, bytes_, cell in there
    ]
    bar = tuple(Span(run, "fact") for _, _, run in cells)
    said = "   ".join(f"{run[0]} {word} {size(bytes_)}" for word, bytes_, run in cells)
    return (Picture((bar, text(said, "dim")), f"its bytes: {said}"),)
