"""Texts that `pd.to_numeric(x, errors="coerce")` makes NaN, wherever it stands in a statement: what follows,
as `.fillna(0)`, hides them. A text that Python reads neither as a float nor as an int is none for pandas."""

# SPDX-License-Identifier: MIT
import ast
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, Final

from inspector import _native
from inspector.adapters import columns
from inspector.facts.conversion import Loss
from inspector.facts.statements import Written
from inspector.sessions.statements import values
from inspector.sessions.statements.converted import loss_of
from inspector.sessions.statements.lost.arithmetic import always
from inspector.sessions.statements.syntax import tree

_FUNCTION: Final = "to_numeric"
_TRUTHS: Final = ("true", "false")


def coerced(written: Written, frame: FrameType) -> Iterator[Loss]:
    """At most one, of a statement that is about to run."""
    node = _given(written.text) if _FUNCTION in written.text else None
    given = () if node is None else _texts(node, frame)
    if not given:
        return
    some, size = given
    lost = [at for at, one in enumerate(some) if type(one) is str and not _is_number(one)]
    if lost and all(_native.exactly(one, str, type(None), float, int) for one in some):
        step = columns.step_of(size)
        told = (repr(some[lost[0]]), "NaN", lost[0] * step, len(lost))
        yield loss_of(written, _FUNCTION, columns.Cast("null", told, len(some), 0.0), size)


@lru_cache(1024)
def _given(text: str) -> ast.expr | None:
    """What the statement's one call of it converts; None where it need not be evaluated."""
    whole = getattr(tree(text), "value", None)
    for node in always(whole) if whole is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            words = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
            if node.func.attr == _FUNCTION and words.get("errors") == "coerce":
                return _stripped(node.args[0])
    return None


def _stripped(node: ast.expr) -> ast.expr:
    """`x` of `x.str.strip()`."""
    func = node.func if isinstance(node, ast.Call) and not node.args else None
    own = func.value if isinstance(func, ast.Attribute) and func.attr == "strip" else None
    return own.value if isinstance(own, ast.Attribute) and own.attr == "str" else node


def _texts(node: ast.expr, frame: FrameType) -> tuple[Any, ...]:
    """(every nth element, how many there are); () where they are not known."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        node = node.args[0] if node.func.attr == "Series" else node
    if isinstance(node, ast.List):
        some = [one.value if isinstance(one, ast.Constant) else None for one in node.elts]
        return (some, len(some))
    found = values.read(frame, ast.unparse(node)) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    if not found and isinstance(node, (ast.Attribute, ast.Subscript)):
        key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
        owner = values.read(frame, ast.unparse(node.value))
        found = columns.single(owner[0], key) if owner and type(key) is str else ()
    if not found:
        return ()
    one = found[0]
    if type(one) is list:
        return (one[:: columns.step_of(len(one))], len(one)) if one else ()
    return columns.texts(one)


def _is_number(text: str) -> bool:
    own = text.strip()
    if not own or own.lower() in _TRUTHS:
        return True  # what pandas makes of these is not said
    try:
        float(own)
    except ValueError:
        try:
            int(own, 0)
        except ValueError:
            return False
    return True
