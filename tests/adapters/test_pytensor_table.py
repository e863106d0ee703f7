"""The table of pytensor's nodes: each row as every linker runs it, judged a second time without a trace."""

# SPDX-License-Identifier: MIT
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.facts.nodes import NodeRun

pytestmark = [pytest.mark.newest, pytest.mark.filterwarnings("ignore")]
pytensor = pytest.importorskip("pytensor", reason="not installed in this room: pytensor")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "pytensor_nodes.md"
ROWS = re.findall(r"^\| `(.*?)` \|.*\n", PAGE.read_text(), re.M)
WRITE = bool(os.environ.get("INSPECTOR_WRITE"))
"""INSPECTOR_WRITE=1 runs all rows under all linkers, and writes them; else a sample is run."""
BY_NODE = ("cvm", "vm", "c|py", "py")
MOVED = 0.75
"""A result of which so many elements stand at fixed places of an operand was copied."""


def given(seed: int) -> dict[str, np.ndarray]:
    """What a row computes with: two matrices, a vector; indexes and a mask, always the same ones."""
    random = np.random.default_rng(seed)
    return {"x": random.random((64, 64)), "z": random.random((64, 64)), "v": random.random(64),
            "i": np.arange(0, 64, 5), "m": np.arange(64 * 64).reshape(64, 64) % 3 == 0}  # fmt: skip


def compiled(expression: str, linker: str) -> Any:
    """The expression as it is written, in a function that may give back and change what it is given."""
    from pytensor import In, Out
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode
    from pytensor.compile.ops import deep_copy_op, view_op
    from pytensor.scalar import add, exp
    from pytensor.tensor import blas, linalg
    from pytensor.tensor.elemwise import Elemwise

    kinds = given(0)
    space = {name: pt.tensor(name, dtype=one.dtype, shape=(None,) * one.ndim) for name, one in kinds.items()}
    known = {"pt": pt, "blas": blas, "exp_inplace": Elemwise(exp, {0: 0}), "linalg": linalg,
             "add_inplace": Elemwise(add, {0: 0}), "deep_copy_op": deep_copy_op, "view_op": view_op,
             "one": pt.constant(np.float64(1)), "rng": pytensor.shared(np.random.default_rng(0))}  # fmt: skip
    out = eval(expression, known, space)
    out = out[0] if isinstance(out, (list, tuple)) else out
    inputs = [In(one, borrow=True, mutable="inplace" in expression) for one in space.values()]
    options = {"on_unused_input": "ignore", "accept_inplace": True}
    return pytensor.function(
        inputs, Out(out, borrow=True), mode=Mode(linker=linker, optimizer=None), **options
    )


def places(y: Any, operands: list[Any]) -> Any:
    """For each element of a result where it stands in the operands, one after the other; -1 for nowhere."""
    known = np.concatenate([one.ravel() for one in operands]).astype(y.dtype)
    at = np.argsort(known, kind="stable")
    found = np.searchsorted(known[at], y.ravel()).clip(max=known.size - 1)
    return np.where(known[at][found] == y.ravel(), at[found], -1)


def second_look(f: Any, expression: str) -> str:
    """How the result is made, by bounds in memory and by the places of elements, without a trace."""
    seen = []
    for seed in (1, 2):
        values, before = given(seed), given(seed)
        y = f(*values.values())
        for name, one in values.items():
            if np.shares_memory(one, y):
                return f"{'view' if np.array_equal(one, before[name]) else 'in place'} of {name}"
        operands = [before[name] for name in re.findall(r"\b[xzv]\b", expression)]
        floats = y.dtype.kind == "f" and operands
        seen.append(places(y, operands) if floats else np.full(y.size, -1))
    fixed = (seen[0] == seen[1]) & (seen[0] >= 0)
    return "copied" if fixed.mean() > MOVED and np.unique(seen[0]).size > 1 else "new"


def told(nodes: tuple[NodeRun, ...]) -> str:
    """What a trace says of the result: of views, what they are views of."""
    run = nodes[-1]
    while run.made == "view" and run.of.isdigit():
        run = nodes[int(run.of)]
    amount = f" {run.bytes:,} B" if isinstance(run.bytes, int) and run.bytes else ""
    made = run.made if isinstance(run.made, str) else "?"
    return f"{made}{f' of {run.of}' if run.of else ''}{amount}"


def traced(f: Any) -> tuple[NodeRun, ...]:
    with inspector.trace("pytensor") as t:
        f(*given(1).values())
    nodes: tuple[NodeRun, ...] = t.report.nodes.calls[0].nodes
    return nodes


def whole(expression: str) -> str:
    """Numba's one function of all nodes: what it does, and what the graph declares where that differs."""
    try:
        f = compiled(expression, "numba")
        seen = second_look(f, expression)
    except Exception:  # an op for which numba has no code
        return "cannot"
    declared = told(traced(f))
    return seen if declared in (seen, "?") else f"{seen}; declares {declared}"


def row(expression: str, linkers: tuple[str, ...]) -> tuple[str, set[str], set[str]]:
    """(op, what the trace says under these linkers, what the second look says)."""
    said, seen, ops = set(), set(), set()
    for linker in linkers:
        f = compiled(expression, linker)
        seen.add(second_look(f, expression))
        nodes = traced(f)
        said.add(told(nodes))
        ops.add(next((one.op for one in reversed(nodes) if one.op != "ViewOp"), "ViewOp"))
    return ops.pop(), said, seen


@pytest.mark.parametrize("expression", ROWS if WRITE else ROWS[::6])
def test_a_row_of_the_page(expression: str) -> None:
    op, said, seen = row(expression, BY_NODE if WRITE else ("cvm", "py"))
    assert len(said) == len(seen) == 1, "all linkers of nodes do the same"
    cells = [expression, op.partition("{")[0], *seen, *said]
    did = cells[3].partition(" B")[0].rstrip("0123456789, ")
    assert did == cells[2], "what the trace says is what bounds and elements say"
    page = PAGE.read_text()
    if WRITE:
        cells.append(whole(expression))
        new = f"| `{expression}` | {' | '.join(cells[1:])} |"
        old = next(line for line in page.split("\n") if line.startswith(f"| `{expression}` |"))
        PAGE.write_text(page.replace(old, new))
    else:
        assert f"| `{expression}` | {' | '.join(cells[1:])} |" in page
