"""Stacks by cell numbers: "cell 7:2" for a cell's file; frames that called the cell are plumbing."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Mapping
from dataclasses import replace

from inspector.magics import cell as cells
from IPython.core.interactiveshell import InteractiveShell

from inspector.facts.stack import Frame, Hits, Stack, Stop
from inspector.facts.unknown import Unknown


def of_hits(shell: InteractiveShell, fact: Hits, cell: str) -> Hits:
    """The hits with stacks by cell numbers. `cell`: the file name of the cell that ran."""
    numbers = cells.numbers(shell)
    known: dict[Stack, Stack] = {}
    for hit in fact.hits:
        if hit.stack not in known:
            known[hit.stack] = _by_cells(hit.stack, numbers, cell)
    return replace(fact, hits=tuple(replace(hit, stack=known[hit.stack]) for hit in fact.hits))


def of_stop(shell: InteractiveShell, fact: Stop, cell: str = "") -> Stop:
    """The stop with its stack by cell numbers; without `cell`, the outermost frame of any cell counts."""
    return replace(fact, stack=_by_cells(fact.stack, cells.numbers(shell), cell))


def place_of(shell: InteractiveShell) -> Callable[[str], str]:
    """A function that calls the "file:line" of a cell "cell 7:2"."""
    numbers = cells.numbers(shell)

    def named(place: str) -> str:
        file, _, line = place.rpartition(":")
        return f"cell {numbers[file]}:{line}" if file in numbers else place

    return named


def _by_cells(stack: Stack, numbers: Mapping[str, int], cell: str) -> Stack:
    """The stack; frames that called the cell (our magic, IPython, the kernel) become plumbing."""
    files = (cell,) if cell else numbers
    outermost = max(
        (at for at, one in enumerate(stack.frames) if _file(one) in files), default=len(stack.frames)
    )
    frames = (
        replace(_named(one, numbers), plumbing=one.plumbing or at > outermost)
        for at, one in enumerate(stack.frames)
    )
    return replace(stack, frames=tuple(frames))


def _named(frame: Frame, numbers: Mapping[str, int]) -> Frame:
    """The frame; one of a cell gets the number of its prompt."""
    if isinstance(frame.line, Unknown) or (number := numbers.get(_file(frame))) is None:
        return frame
    name = f"cell {number}"
    return replace(frame, library=name, line=f"{name}:{frame.line.rpartition(':')[2]}")


def _file(frame: Frame) -> str:
    return "" if isinstance(frame.line, Unknown) else frame.line.rpartition(":")[0]
