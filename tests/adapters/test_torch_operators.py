"""torch's operators under a trace: each row of the page, judged a second time by storages and values."""

# SPDX-License-Identifier: MIT
import linecache
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.facts.statements import Statement

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch", reason="not installed in this room: torch")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "torch_operators.md"
ROWS = re.findall(r"^\| `(.*)` \| .*\n", PAGE.read_text(), re.M)
"""The expressions of the page; INSPECTOR_WRITE=1 writes what they do into it."""


def names() -> dict[str, Any]:
    """A matrix, another one, indexes, a mask, and NumPy's array."""
    random = torch.Generator().manual_seed(0)
    x, z = torch.randn(64, 64, generator=random), torch.randn(64, 64, generator=random)
    i, m = torch.arange(0, 64, 5), torch.arange(64 * 64).reshape(64, 64) % 3 == 0
    return {"torch": torch, "x": x, "z": z, "i": i, "j": i.repeat(64, 1).t().contiguous(), "m": m,
            "n": torch.arange(9.0).numpy()}  # fmt: skip


def second_look(space: dict[str, Any], before: dict[str, Any]) -> str:
    """What happened, by where storages lie and by elements; without the inspector."""
    y, operands = space["y"], {name: space[name] for name in "xzn"}
    kinds = {name: torch.as_tensor(one) for name, one in operands.items()}
    if not isinstance(y, (torch.Tensor, type(space["n"]))):
        return "no tensor"
    y = torch.as_tensor(y)
    changed = [name for name, one in kinds.items() if not torch.equal(one, before[name])]
    for name, one in kinds.items():
        if one.untyped_storage().data_ptr() == y.untyped_storage().data_ptr():
            return "in place" if changed and (name in changed or y is operands[name]) else "shares"
    if y.shape == kinds["x"].shape and len(y.unique()) > 1 and not torch.equal(y, kinds["x"]):
        places = torch.stack([kinds["x"], kinds["z"], y * 0, y * 0 + 1])
        if bool((places == y).any(0).all()):
            return "chosen"
    known = torch.cat([one.flatten().to(y.dtype) for one in before.values()] + [torch.zeros(1).to(y.dtype)])
    plain = len(y.unique()) > 1 and bool(torch.isin(y, known).all())
    return "copied" if plain else "new"


def row(expression: str) -> tuple[str, str, Statement | None]:
    """(what happened by the second look, the operators that the trace tells, its row)."""
    name, text, space = f"{abs(hash(expression))}.py", f"y = {expression}\n", names()
    linecache.cache[name] = (len(text), None, [text], name)
    before = {one: torch.as_tensor(space[one]).clone() for one in "xzn"}
    code = compile(text, name, "exec")
    with inspector.trace("torch") as t:
        exec(code, space)
    one = t.lines.get((name, 1))
    calls_agree(t.copies, one)
    ran = one.operators if one is not None else ()
    said = ", ".join(f"{op.name.removeprefix('aten::')} {op.did} {op.bytes:,} B" for op in ran)
    return second_look(space, before), said or "none", one


def calls_agree(copies: Any, one: Statement | None) -> None:
    """What is said of a call is what is said of its operators, if those of the line did one thing."""
    did = {op.did for op in one.operators} if one is not None else set()
    said = {copy.verdict for copy in copies if copy.function.startswith("torch.") and copy.copied_bytes}
    assert did != {"new"} or not said & {"copied"}
    assert did != {"copied"} or not said & {"computed"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", ROWS)
def test_a_row_of_the_page(expression: str) -> None:
    seen, said, one = row(expression)
    was, line = f"| `{expression}` | ", f"| `{expression}` | {seen} | {said} |\n"
    page = PAGE.read_text()
    shown = page[page.index(was) :].split("\n")[0] + "\n"
    if os.environ.get("INSPECTOR_WRITE"):
        PAGE.write_text(page.replace(shown, line))
    assert shown == line
    did = {op.did for op in one.operators} if one else set()
    allowed = {
        "shares": set(),
        "no tensor": set(),
        "chosen": {"new", "copied"},
        "in place": {"in place", "copied"},
    }
    assert bool(did & allowed.get(seen, {seen})) == bool(allowed.get(seen, {seen}))
    assert did or seen in ("shares", "no tensor"), "what storages and elements say, an operator did"


STEP = """import torch
x = torch.randn(300, 300)
model = torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.ReLU())
y = model(x.t().contiguous())
loss = y.pow(2).sum()
loss.backward()
"""


def test_the_first_screen_of_a_step(tmp_path: Path) -> None:
    """torch is imported by the traced script itself."""
    (tmp_path / "step.py").write_text(STEP)
    wanted = [sys.executable, "-m", "inspector", "trace", "--of", "torch", "--save", "t.trace", "step.py"]
    text = subprocess.run(
        wanted, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=100
    ).stdout
    lines = text.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    at = next(at for at, line in enumerate(lines) if line.startswith(" 4  y = model"))
    assert "new values" in lines[at]
    said = "torch: contiguous → clone copied 360 kB, addmm new 360 kB, 1 more"
    assert lines[at + 1].strip() == said
    loaded = inspector.load(tmp_path / "t.trace").lines["step.py", 6].operators
    assert {one.name for one in loaded} >= {"aten::mm", "aten::threshold_backward"}, "backward, line 6"


def test_it_goes_and_nothing_changes() -> None:
    """Values, errors, storages and other modes are as without a trace; ours is gone afterwards."""
    from torch.utils.flop_counter import FlopCounterMode

    c, x = torch._C, torch.randn(50, 50, requires_grad=True)
    with FlopCounterMode(display=False), inspector.trace("torch") as t:
        (x @ x).contiguous()
    assert not any(row.operators for row in t.statements.rows), "another mode was active"
    flops = FlopCounterMode(display=False)
    with inspector.trace("torch") as t:
        with flops:
            y = (x @ x).t().contiguous()
        same = x.view(-1)
        with pytest.raises(RuntimeError, match="shape"):
            x.view(3)
        y.sum().backward()
    assert c._len_torch_dispatch_stack() == 0 and flops.get_total_flops() == 250_000
    assert same.data_ptr() == x.data_ptr() and same._base is x
    grad, x.grad = x.grad, None
    (x @ x).t().contiguous().sum().backward()
    assert torch.equal(grad, x.grad) and torch.equal(y, (x @ x).t())
    assert {one.name for row in t.statements.rows for one in row.operators} >= {"aten::clone", "aten::mm"}


def test_a_compiled_function_stays_compiled_and_none_of_ours_is() -> None:
    """What it runs is of the lines that it was written in."""
    made = []

    def backend(graph: Any, inputs: Any) -> Any:
        made.append(graph)
        return graph.forward

    f = torch.compile(lambda x: x.sin().t().contiguous(), backend=backend)
    x = torch.randn(50, 60)
    f(x)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with inspector.trace("torch") as t:
            y = f(x)
    assert len(made) == 1 and torch.equal(y, x.sin().t())
    assert not [one for one in told if "inspector" in str(one.message)]
    (row,) = (row for row in t.statements.rows if row.operators)
    assert row.site.text.startswith("f = torch.compile(lambda")
    assert {one.name for one in row.operators} == {"aten::sin", "aten::clone"}


LAYOUT = """import torch
x = torch.randn(300, 200)
x.t_()
x.unsqueeze_(0)
a = torch.empty(0)
a.set_(x)
x.mul_(2)
"""


def test_what_shows_bytes_in_another_way_writes_none(tmp_path: Path) -> None:
    (tmp_path / "layout.py").write_text(LAYOUT)
    wanted = [sys.executable, "-m", "inspector", "trace", "--save", "t.trace", "layout.py"]
    subprocess.run(wanted, cwd=tmp_path, capture_output=True, check=True, timeout=100)
    lines = inspector.load(tmp_path / "t.trace").lines
    did = {number: lines["layout.py", number].verdict for number in range(2, 8)}
    same = dict.fromkeys((3, 4), "same object")
    assert did == {2: "new values", **same, 5: "new values", 6: "view", 7: "in place"}
