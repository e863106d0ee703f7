"""Statements whose right side computes by what is written there: arithmetic, a ufunc of NumPy."""

# SPDX-License-Identifier: MIT
import ast
import sys
from typing import Any

from inspector.facts.statements import Bound
from inspector.verdicts.statements.right_side import right_side

_ARRAYS = ("ndarray ", "Series ", "DataFrame", "Index ", "Tensor ", "Array ")
"""Beginnings of what has elements that operators compute with; those of lists and texts join them."""


def computes(text: str, value: Bound) -> bool:
    """Whether a statement bound memory of its own that its outermost operator or ufunc filled."""
    if value.relation != "apart" or not value.what.startswith(_ARRAYS):
        return False
    node = right_side(text)
    return isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)) or _is_ufunc(node)


def _is_ufunc(node: ast.expr | None) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return False
    np: Any = sys.modules.get("numpy")
    return (
        np is not None
        and func.value.id in ("np", "numpy")
        and isinstance(getattr(np, func.attr, None), np.ufunc)
    )
