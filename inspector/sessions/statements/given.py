"""Where the values lie that statements name: a loss of other values is a library's own."""

# SPDX-License-Identifier: MIT
import ast
import io
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import PosixPath
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Final

from inspector import _native
from inspector.facts.memory import Range
from inspector.facts.statements import Named, Written
from inspector.facts.unknown import Address
from inspector.sessions.statements.syntax import tree
from inspector.sessions.statements.values import Before, Found

MOST: Final = 4096
"""Statements of which it is kept."""
_WITHOUT: Final = frozenset((
    ModuleType, FunctionType, BuiltinFunctionType, type, str, int, float, complex, bool, NoneType, PosixPath,
    io.StringIO, io.TextIOWrapper, io.BufferedReader, io.FileIO,
))  # fmt: skip


def given_nothing(named: Iterable[Found]) -> bool:
    """Whether these values are modules, functions, texts, files and numbers: none has elements to copy."""
    return all(_native.exactly(value, *_WITHOUT) for found in named for value in found)


class Places:
    """What the statements of one trace named."""

    def __init__(self) -> None:
        self._known: dict[Written, dict[tuple[int, int], None] | None] = {}
        """None where a block of an object has no known place."""

    def add(self, written: Written, operands: Mapping[str, Before]) -> None:
        """Note the operands of a pass of a statement that is about to run."""
        if written not in self._known and len(self._known) == MOST:
            return
        known, computed = self._known.setdefault(written, {}), _computed(written.text)
        all_known = all(one.total <= len(one.blocks) and not one.boxed for one in operands.values())
        if known is None or computed is None or not (all_known and computed.isdisjoint(operands)):
            self._known[written] = None
            return
        blocks = (block for one in operands.values() for block in one.blocks)
        known.update(((block.range.start, block.range.stop), None) for block in blocks)

    def facts(self, is_watched: Callable[[Written], bool]) -> tuple[Named, ...]:
        """The statements whose passes were all looked at, with all that they named."""
        return tuple(
            Named(
                one.file, one.line, one.last_line,
                tuple(Range(Address(start), Address(stop)) for start, stop in some),
            )
            for one, some in self._known.items()
            if some is not None and is_watched(one)
        )  # fmt: skip


@lru_cache(1024)
def _computed(text: str) -> frozenset[str] | None:
    """Names that arguments compute with, as `x` of `f(x * 2)`: their values have no name; None: not known."""
    whole = tree(text)
    if whole is None:
        return None
    calls = (one for one in ast.walk(whole) if isinstance(one, ast.Call))
    given = (part for one in calls for part in (*one.args, *(word.value for word in one.keywords)))
    found = (part for part in given if not isinstance(part, (ast.Name, ast.Attribute, ast.Constant)))
    return frozenset(
        ast.unparse(one)
        for part in found
        for one in ast.walk(part)
        if isinstance(one, (ast.Name, ast.Attribute))
    )
