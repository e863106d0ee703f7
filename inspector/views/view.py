"""`view(fact)` returns the blocks of a fact; each view file registers its fact classes."""

# SPDX-License-Identifier: MIT
import importlib.util
from functools import cache, singledispatch
from typing import Any

from inspector.views.grammar import Block


@singledispatch
def blocks(fact: Any) -> tuple[Block, ...]:
    """Blocks of one fact; view files register with `@blocks.register`."""
    raise TypeError(f"no view for {type(fact).__name__}")


@cache
def _load(column: str) -> None:
    """Import the view file of a column, or all view files if none has its name."""
    if column and importlib.util.find_spec(f"inspector.views.{column}"):
        importlib.import_module(f"inspector.views.{column}")
        return
    import pkgutil

    for module in pkgutil.iter_modules(importlib.import_module("inspector.views").__path__):
        importlib.import_module(f"inspector.views.{module.name}")


def view(fact: Any) -> tuple[Block, ...]:
    """The blocks of `fact`, from the view file with the name of its fact file, else from any view file."""
    _load(type(fact).__module__.rpartition(".")[2])
    if blocks.dispatch(type(fact)) is blocks.dispatch(object):
        _load("")
    return blocks(fact)
