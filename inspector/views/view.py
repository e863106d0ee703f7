"""`view(fact)`: the blocks of a fact. Each column's file registers its own, found by its folder."""

from __future__ import annotations

import importlib.util
from functools import cache, singledispatch
from typing import Any

from inspector.views.grammar import Block


@singledispatch
def blocks(fact: Any) -> tuple[Block, ...]:
    """Blocks of one fact; a view file registers with `@blocks.register`."""
    raise TypeError(f"no view for {type(fact).__name__}")


@cache
def _load(column: str) -> None:
    """Import the view file of a column; the whole folder where no file has its name."""
    if column and importlib.util.find_spec(f"inspector.views.{column}"):
        importlib.import_module(f"inspector.views.{column}")
        return
    import pkgutil

    for module in pkgutil.iter_modules(importlib.import_module("inspector.views").__path__):
        importlib.import_module(f"inspector.views.{module.name}")


def view(fact: Any) -> tuple[Block, ...]:
    """The blocks of `fact`, whatever column it belongs to: the view file named as its fact file, else any."""
    _load(type(fact).__module__.rpartition(".")[2])
    if blocks.dispatch(type(fact)) is blocks.dispatch(object):
        _load("")
    return blocks(fact)
