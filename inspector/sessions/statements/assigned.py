"""Items that a statement assigns: `x[i:j] = y`, `x[0] += 2.7`, `x["field"] = f()`, compared when stored.

Owner, key and value are those that the store got, so what the statement computes needs no name. Elements are
read where they lie; keys and values that are no numbers of Python's or NumPy's own are read as memory, so no
code of the user's runs.
"""

# SPDX-License-Identifier: MIT
import ast
import sys
from collections.abc import Iterator
from functools import lru_cache, partial
from types import FrameType
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.adapters.columns import MOST_COMPARED, Cast, cast
from inspector.facts.conversion import STORED, Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.memory import NUMBERS, TEXTS, Unread, array_of, is_plain
from inspector.sessions.statements.syntax import tree

_HELD: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.List)
"""Right sides whose elements were there before the statement, or are written in it."""


class Assigned(NamedTuple):
    """What an assignment put where."""

    owner: str
    """The name of the object that has the items."""
    source: str
    """What was assigned, as it is written."""
    bytes: int
    """Of items that are the elements of an array, in the same type or another one; else 0."""
    written: int
    """Bytes of the items."""
    loss: Loss | None


def stored_in(items: Assigned | None, name: str) -> int:
    """Bytes of the items of an object that a statement assigned."""
    is_its = items is not None and name in (items.owner, items.owner.partition(".")[0])
    return items.written if items is not None and is_its else 0


class Stores:
    """Sees what the statements that run in some frames store."""

    def __init__(self) -> None:
        self._written: dict[int, Written] = {}
        self._found: dict[int, Assigned] = {}
        self._is_busy = False
        self._callback = partial(_native.lines_call, self._stored)

    def opened(self, written: Written, frame: FrameType) -> None:
        """A statement of a frame begins; the one before it is over."""
        node = _of_items(written)
        if node is not None:
            _native.stores_watch(self._callback, *_types(node.value, frame))
            self._written[id(frame)] = written
            _native.stores_want(True)
        elif self._written:
            self.closed(frame)

    def closed(self, frame: FrameType) -> Assigned | None:
        """The frame's statement is over; what it stored last, if that can be told."""
        if self._written.pop(id(frame), None) is not None:
            _native.stores_want(bool(self._written))
        return self._found.pop(id(frame), None)

    def end(self) -> None:
        """See no more."""
        _native.stores_end()
        self._written.clear()
        self._found.clear()

    def _stored(self, owner: Any, key: Any, value: Any) -> None:
        frame = sys._getframe(1)
        written = self._written.get(id(frame))
        if written is None or self._is_busy:
            return
        self._is_busy = True
        try:
            found = assigned(written, owner, key, value)
            if found is not None:
                self._found[id(frame)] = found
        finally:
            self._is_busy = False


def assigned(written: Written, owner: Any, key: Any, value: Any) -> Assigned | None:
    """What a statement put into items of an object; None where that cannot be told."""
    np: Any = sys.modules.get("numpy")
    node: Any = tree(written.text)
    target: Any = node.targets[0] if isinstance(node, ast.Assign) else node.target
    try:
        items, source = np.asarray(array_of(owner, np)[_key(key, np)]), _value(owner, value, np)
        lost = _lost(items, source, np)
    except (Unread, AttributeError, IndexError, TypeError, ValueError, OverflowError):
        return None
    loss = loss_of(written, STORED, lost, items.size) if lost is not None else None
    is_copied = isinstance(node.value, _HELD) and source.ndim > 0 and source.size == items.size
    copied = items.nbytes if is_copied else 0
    return Assigned(ast.unparse(target.value), ast.unparse(node.value), copied, items.nbytes, loss)


@lru_cache(256)
def _of_items(written: Written) -> ast.Subscript | None:
    """The items that a statement assigns, if they are its one target."""
    if written.kind not in ("assign", "augmented"):
        return None
    node = tree(written.text)
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return targets[0] if len(targets) == 1 and isinstance(targets[0], ast.Subscript) else None


def _types(owner: ast.expr, frame: FrameType) -> Iterator[type]:
    """Types that may store: NumPy's arrays, and that of the object whose part has the items."""
    np: Any = sys.modules.get("numpy")
    if np is not None:
        yield np.ndarray
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    found = values.read(frame, ast.unparse(owner)) if isinstance(owner, (ast.Name, ast.Attribute)) else ()
    if found and not _native.exactly(found[0], list, dict):
        yield type(found[0])


def _key(key: Any, np: Any) -> Any:
    if key is None or key is ... or is_plain(key, np):
        return key
    if type(key) is slice:
        return slice(*(_key(one, np) for one in (key.start, key.stop, key.step)))
    if _native.exactly(key, list, tuple):
        return type(key)(_key(one, np) for one in key)
    return array_of(key, np)


def _value(owner: Any, value: Any, np: Any) -> Any:
    """A number, a text, a list of them, or an array; bytes are a text for NumPy, elements for others."""
    if type(value) is bytes and type(owner) is not np.ndarray:
        return array_of(value, np)
    if _native.exactly(value, list, tuple):
        if len(value) > MOST_COMPARED or not all(is_plain(one, np) for one in value):
            raise Unread
        return np.array(value)
    return np.asarray(value) if is_plain(value, np) else array_of(value, np)


def _lost(items: Any, source: Any, np: Any) -> Cast | None:
    """What the items have lost of what was stored into them."""
    kinds = {source.dtype.kind, items.dtype.kind}
    if not items.size or not (kinds <= {*NUMBERS} or kinds in ({"U"}, {"S"})):
        raise Unread
    if source.dtype == items.dtype:
        return None
    given = np.broadcast_to(source, items.shape)
    return (_cut if kinds & {*TEXTS} else cast)(np.ravel(given), np.ravel(items))


def _cut(given: Any, items: Any) -> Cast | None:
    """Of texts that were cut to the length that the array has room for."""
    lost = (given != items).nonzero()[0]
    if not len(lost):
        return None
    before, after = (repr(some[lost[0]].item()) for some in (given, items))
    return Cast("cut", (before, after, int(lost[0]), len(lost)), len(items), 0.0)
